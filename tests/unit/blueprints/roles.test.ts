// Tests which permissions a Blueprint is said to need.
import { rolesOf } from "@janus/blueprints/authoring";
import { expect, it } from "vitest";

const task = (name: string, word: string, more: object = {}) => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: [word], ...more },
});

const rule = (group: string, resource: string, ...verbs: readonly string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});
const role = (namespace: string, ...rules: readonly object[]) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "blueprint-pg", namespace },
  rules,
});

it("a Role for each namespace, with the verbs of all phases, and what is read of the object", () => {
  const phases = [task("save", "true"), task("load", "{{ .Secrets.aws.Name }}", { namespace: "backup" })];
  const { manifests, unknown } = rolesOf(
    "pg",
    { backup: { kind: "Deployment", secretNames: ["aws"], phases } },
    "shop",
  );
  expect(manifests).toEqual([
    role(
      "backup",
      rule("", "pods", "create", "delete", "get", "patch"),
      rule("", "pods/log", "get"),
      rule("", "secrets", "create", "get"),
    ),
    role(
      "shop",
      rule("", "pods", "create", "delete", "get", "list", "patch"),
      rule("", "pods/log", "get"),
      rule("", "secrets", "get"),
      rule("apps", "deployments", "get"),
      rule("apps", "replicasets", "list"),
    ),
  ]);
  expect(unknown).toEqual([]);
});

const ops = (name: string, operation: string, args: object) => ({
  func: "KubeOps",
  name,
  args: { operation, ...args },
});

const reference = (resource: string, more: object = {}) => ({ apiVersion: "v1", resource, name: "a", ...more });

it("what only shows when it is rendered is said with the reason, and its namespace is taken for that of the ActionSet", () => {
  const namespace = "{{ .Object.metadata.namespace }}";
  const phases = [
    task("save", "true", { namespace: "{{ .Deployment.Namespace }}" }),
    ops("make", "create", { namespace, spec: "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ .Time }}'}}" }),
    ops("drop", "delete", { objectReference: reference("deployments", { group: "apps", namespace }) }),
    ops("label", "patch", { objectReference: reference("configmaps"), spec: "{}" }),
    {
      func: "WaitV2",
      name: "wait",
      args: { timeout: "1m", conditions: { anyOf: [{ objectReference: reference("{{ .Options.of }}") }] } },
    },
    { func: "ScaleWorkload", name: "scale", args: { replicas: 0 } },
  ];
  const { manifests, unknown } = rolesOf("pg", { backup: { phases } }, "shop");
  expect(manifests.map(({ metadata }) => metadata)).toEqual([{ name: "blueprint-pg", namespace: "shop" }]);
  const rendered = "which is known only when it is rendered";
  const [object, ...others] = unknown;
  expect(object).toBe("action backup: it needs get on its object, of a kind that it does not name: add it");
  expect(others).toEqual(
    [
      `save: KubeTask works in namespace {{ .Deployment.Namespace }} (args.namespace), ${rendered}: its rules are in the Role of shop`,
      "make: KubeOps needs create, get on the objects of args.spec (ConfigMap): their resources are known only to the API server: add it",
      `drop: KubeOps needs get, delete on deployments.apps in namespace ${namespace} (args.objectReference), ${rendered}: add it`,
      "label: KubeOps needs patch on configmaps (args.objectReference): in namespace default, unless it is in none, which the API server knows: add it",
      `wait: WaitV2 needs get on {{ .Options.of }} in no namespace (args.conditions.anyOf[0].objectReference), ${rendered}: add it`,
      "scale: ScaleWorkload needs get on a workload, get and patch on its subresource scale, and for a Deployment list on pods: neither args.kind nor the kind of the action says what it is: add it",
    ].map((one) => `action backup, phase ${one}`),
  );
});

it("what arguments name without templates is in the Role", () => {
  const phases = [
    ops("drop", "delete", { objectReference: reference("deployments", { apiVersion: "apps/v1", namespace: "web" }) }),
    ops("label", "patch", { objectReference: reference("configmaps"), namespace: "web", spec: "{}" }),
    {
      func: "Wait",
      name: "wait",
      args: {
        timeout: "1m",
        conditions: {
          allOf: [
            { objectReference: reference("nodes") },
            { objectReference: reference("pods", { namespace: "web" }) },
          ],
        },
      },
    },
    { func: "ScaleWorkload", name: "scale", args: { replicas: 0 } },
  ];
  const { manifests, unknown } = rolesOf("pg", { backup: { kind: "statefulset", phases } }, "shop");
  expect(unknown).toEqual([]);
  expect(manifests).toEqual([
    { ...role("", rule("", "nodes", "get")), kind: "ClusterRole", metadata: { name: "blueprint-pg" } },
    role(
      "shop",
      rule("", "pods", "list"),
      rule("apps", "statefulsets", "get"),
      rule("apps", "statefulsets/scale", "get", "patch"),
    ),
    role("web", rule("", "configmaps", "patch"), rule("", "pods", "get"), rule("apps", "deployments", "delete", "get")),
  ]);
});

it("a function that moves data reads the Profile of its action, and makes a Secret for its Pod", () => {
  const phases = [
    { func: "RestoreData", name: "load", args: { namespace: "web", image: "tools", backupArtifactPrefix: "a" } },
  ];
  expect(rolesOf("pg", { restore: { phases } }, "shop").manifests).toEqual([
    role("shop", rule("", "secrets", "get"), rule("cr.kanister.io", "profiles", "get")),
    role(
      "web",
      rule("", "persistentvolumeclaims", "get"),
      rule("", "pods", "create", "delete", "get", "patch"),
      rule("", "pods/log", "get"),
      rule("", "secrets", "create", "get"),
    ),
  ]);
});

it("what is in no namespace is in a ClusterRole", () => {
  const phases = [{ func: "DeleteCSISnapshotContent", name: "drop", args: { name: "x" } }];
  expect(rolesOf("csi", { drop: { phases } }, "shop").manifests).toMatchObject([
    { kind: "ClusterRole", rules: [{ resources: ["volumesnapshotcontents"], verbs: ["delete", "get"] }] },
  ]);
});

const scale = (name: string) => ({
  func: "ScaleWorkload",
  name,
  args: { replicas: 0, name: "web", namespace: "web", kind: "Deployment" },
});

it("an atomic action needs Transactions, and the verbs of the change and of its rollback; its deferPhase does not", () => {
  const { manifests } = rolesOf(
    "pg",
    { stop: { atomic: true, phases: [scale("down")], deferPhase: scale("up") } },
    "shop",
  );
  expect(manifests).toEqual([
    role("shop", rule("backup.janus.io", "transactions", "create", "delete", "get", "patch")),
    role(
      "web",
      rule("", "pods", "list"),
      rule("apps", "deployments", "get", "patch", "update"),
      rule("apps", "deployments/scale", "get", "patch"),
    ),
  ]);
});
