// Objects as kanctl writes them are executed as they are: lower-case kinds, empty fields of references, Profiles, --from, --dry-run.
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { configMap, deployment, role, roleBinding, secret, within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { API_VERSION, type ActionSetObject, blueprint } from "./objects.ts";
import { place } from "./world.ts";

/** Go marshals these fields whether they are empty or not. */
const reference = (name: string, namespace: string, kind = "") => ({
  apiVersion: "",
  group: "",
  kind,
  name,
  namespace,
  resource: "",
});

/** What `kanctl create profile s3compliant` creates. */
const profileOf = (namespace: string) => [
  secret("s3-secret-q1w2e3", {
    aws_access_key_id: "AKID-marked",
    aws_secret_access_key: "key-marked",
    role: "",
  }),
  {
    apiVersion: API_VERSION,
    kind: "Profile",
    metadata: { name: "s3-profile-q1w2e" },
    location: { type: "s3Compliant", bucket: "backups", endpoint: "", prefix: "", region: "eu-1" },
    credential: {
      type: "keyPair",
      keyPair: {
        idField: "aws_access_key_id",
        secretField: "aws_secret_access_key",
        secret: reference("s3-secret-q1w2e3", namespace),
      },
    },
    skipSSLVerify: false,
  },
];

/** One action for each object, and what flags have given: `--profile`, `--options`, `--secrets`, `--config-maps`. */
const created = (name: string, action: string, objects: readonly object[], more: object, labels: object = {}) => ({
  apiVersion: API_VERSION,
  kind: "ActionSet",
  metadata: { name, labels },
  spec: {
    actions: objects.map((object) => ({ name: action, blueprint: "pg", object, preferredVersion: "", ...more })),
  },
});

/** What `kanctl create actionset --action A --from PARENT` makes of its parent. */
const continued = (name: string, action: string, parent: ActionSetObject) => {
  const { actions } = parent["spec"] as { readonly actions: readonly object[] };
  return {
    apiVersion: API_VERSION,
    kind: "ActionSet",
    metadata: { name },
    spec: {
      actions: parent.status.actions.map(({ artifacts }, at) => ({ ...actions[at], name: action, artifacts })),
    },
  };
};

const kando = (key: string, value: string): string => `echo '###Phase-output###: {"key":"${key}","value":"${value}"}'`;

const task = (name: string, script: string): object => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", script] },
});

const PATH =
  "{{ .Deployment.Namespace }}/{{ .Deployment.Name }}/{{ .Options.level }}/{{ .ConfigMaps.location.Data.path }}";
const PG = {
  backup: {
    kind: "Deployment",
    configMapNames: ["location"],
    secretNames: ["db"],
    outputArtifacts: { cloudObject: { keyValue: { path: "{{ .Phases.dump.Output.path }}" } } },
    phases: [
      task(
        "dump",
        `case '{{ toJson .Profile }}{{ .Secrets.db.Data.password | toString }}' in
           *'"bucket":"backups"'*'"ID":"AKID-marked"'*password-marked) ${kando("path", PATH)};;
           *) exit 7;;
         esac`,
      ),
    ],
  },
  restore: {
    inputArtifactNames: ["cloudObject"],
    outputArtifacts: { restored: { keyValue: { path: "{{ .Phases.load.Output.path }}" } } },
    phases: [task("load", kando("path", "{{ .ArtifactsIn.cloudObject.KeyValue.path }}"))],
  },
  look: {
    outputArtifacts: { seen: { keyValue: { kind: "{{ .Phases.see.Output.kind }}" } } },
    phases: [task("see", kando("kind", "{{ .Object.kind }}/{{ .Object.metadata.name }}"))],
  },
};

const pathsOf = ({ status }: ActionSetObject): unknown =>
  status.actions.map(({ artifacts }) => Object.values(artifacts ?? {}).map(({ keyValue }) => keyValue));

it("executes what kanctl creates, and what it makes of a parent", async () => {
  const { namespace, create, over } = await place();
  const shop = await freshNamespace();
  await administrator.create(within(shop, roleBinding("kanister", "ClusterRole", "admin", `${namespace}/ops`)));
  for (const manifest of [
    ...["web", "api"].map((name) => ({
      ...deployment(name, "nginx"),
      spec: { ...Object(deployment(name, "nginx").spec), replicas: 0 },
    })),
    configMap("location", { path: "daily" }),
    secret("db", { password: "password-marked" }),
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  ])
    await administrator.create(within(shop, manifest));
  const profiles = { apiGroups: ["cr.kanister.io"], resources: ["profiles"], verbs: ["get"] };
  await create(
    role("profiles", profiles),
    roleBinding("profiles", "Role", "profiles", `${namespace}/ops`),
    ...profileOf(namespace),
    blueprint("pg", PG),
  );

  const given = {
    configMaps: { location: reference("location", shop) },
    options: { level: "full" },
    profile: reference("s3-profile-q1w2e", namespace),
    secrets: { db: reference("db", shop) },
    podLabels: {},
    podAnnotations: {},
  };
  const deployments = ["web", "api"].map((name) => reference(name, shop, "deployment"));
  const unstructured = {
    apiVersion: "v1",
    group: "",
    kind: "",
    name: "location",
    namespace: shop,
    resource: "configmaps",
  };
  const others = [reference("data", shop, "pvc"), reference(shop, shop, "namespace"), unstructured];
  await create(
    created("backup-x7k2p", "backup", deployments, given, { schedule: "nightly" }),
    created("look-v5b6n", "look", others, {}),
  );
  const parent = await over("backup-x7k2p");
  expect(parent.status.error).toBeUndefined();
  const paths = ["web", "api"].map((name) => [{ path: `${shop}/${name}/full/daily` }]);
  expect(pathsOf(parent)).toEqual(paths);
  expect(JSON.stringify(parent)).not.toContain("marked");
  expect(parent.metadata.labels).toEqual({ schedule: "nightly" });

  await create(continued("restore-backup-x7k2p-9f4qd", "restore", parent));
  const restored = await over("restore-backup-x7k2p-9f4qd");
  expect(restored.status.error).toBeUndefined();
  expect(pathsOf(restored)).toEqual(paths);
  expect(pathsOf(await over("look-v5b6n"))).toEqual([
    [{ kind: "PersistentVolumeClaim/data" }],
    [{ kind: `Namespace/${shop}` }],
    [{ kind: "ConfigMap/location" }],
  ]);
});

/** What `kanctl create actionset --dry-run` prints of one without options. */
const printed = `apiVersion: cr.kanister.io/v1alpha1
kind: ActionSet
metadata:
  creationTimestamp: null
  name: look-h8j3d
spec:
  actions:
  - blueprint: pg
    name: look
    object:
      apiVersion: v1
      group: ""
      kind: ""
      name: subject
      namespace: NAMESPACE
      resource: configmaps
    preferredVersion: ""
`;

it("executes what kanctl prints with --dry-run, applied by kubectl", async () => {
  const { namespace, create, over } = await place();
  await create(blueprint("pg", PG));
  const stdin = printed.replace("NAMESPACE", namespace);
  const applied = await kubectlWith({ stdin }, "apply", "-n", namespace, "--validate=strict", "-f", "-");
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  expect(pathsOf(await over("look-h8j3d"))).toEqual([[{ kind: "ConfigMap/subject" }]]);
  // Nothing of it changes when it is applied once more.
  const again = await kubectlWith({ stdin }, "apply", "-n", namespace, "-f", "-");
  expect(again.stdout).toContain("unchanged");
});
