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
      rule("", "secrets", "create"),
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

it("what only shows when it is rendered is said, and its namespace is taken for that of the ActionSet", () => {
  const phases = [
    task("save", "true", { namespace: "{{ .Deployment.Namespace }}" }),
    { func: "KubeOps", name: "make", args: { operation: "create", spec: "{{ .Options.spec }}" } },
  ];
  const { manifests, unknown } = rolesOf("pg", { backup: { phases } }, "shop");
  expect(manifests.map(({ metadata }) => metadata)).toEqual([{ name: "blueprint-pg", namespace: "shop" }]);
  expect(unknown).toEqual([
    "action backup, phase save: its namespace is known only when it is rendered; shop is assumed",
    "action backup, phase make: what KubeOps needs is known only when it is rendered: add it",
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
      rule("apps", "deployments", "get", "patch", "update"),
      rule("apps", "deployments/scale", "get", "patch"),
    ),
  ]);
});
