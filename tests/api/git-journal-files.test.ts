// Tests on the API server that the file of an object gives the object back, and that applying it to the live object changes nothing.
import { asObject, isKubeObject, type JsonObject, type KubeObject, parseJson } from "@janus/types";
import { expect, it } from "vitest";
import { canonicalYaml } from "../../packages/git-journal/src/core/canonical.ts";
import { sanitised } from "../../packages/git-journal/src/core/sanitise.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const labels = { app: "web" };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: "web", image: "nginx:1.27", args: ["--on", "1e3", "off"] }] },
};
const ports = [{ port: 80 }];

/** One of each kind that `*` selects, and some more, with texts that YAML takes for something else. */
const OBJECTS: readonly (readonly [apiVersion: string, kind: string, fields: JsonObject])[] = [
  [
    "v1",
    "ConfigMap",
    {
      data: { yes: "no", "1.0": "0x1F", text: "a\n\tb\n\nc: d\n", end: "x\n\n", crlf: "a\r\nb" },
      binaryData: { b: "AAEC" },
      immutable: true,
    },
  ],
  ["v1", "Secret", { type: "Opaque", data: { password: "cDQ=" } }],
  ["v1", "ServiceAccount", { automountServiceAccountToken: false, imagePullSecrets: [{ name: "registry" }] }],
  ["v1", "Service", { spec: { selector: labels, ports } }],
  ["v1", "Service", { spec: { selector: labels, ports, clusterIP: "None" } }],
  ["v1", "Service", { spec: { selector: labels, ports, type: "NodePort" } }],
  ["v1", "ResourceQuota", { spec: { hard: { "count/secrets": "500" } } }],
  ["v1", "LimitRange", { spec: { limits: [{ type: "Container", default: { cpu: "500m" } }] } }],
  [
    "v1",
    "PersistentVolumeClaim",
    // Of a class of its own: it takes no volume of another test.
    { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "none" } },
  ],
  ["apps/v1", "Deployment", { spec: { replicas: 0, selector: { matchLabels: labels }, template } }],
  [
    "apps/v1",
    "StatefulSet",
    { spec: { replicas: 0, serviceName: "web", selector: { matchLabels: labels }, template } },
  ],
  ["apps/v1", "DaemonSet", { spec: { selector: { matchLabels: labels }, template } }],
  [
    "batch/v1",
    "CronJob",
    {
      spec: {
        schedule: "0 3 * * *",
        suspend: true,
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
      },
    },
  ],
  [
    "networking.k8s.io/v1",
    "Ingress",
    {
      spec: {
        rules: [
          {
            host: "example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  ],
  ["networking.k8s.io/v1", "NetworkPolicy", { spec: { podSelector: {}, policyTypes: ["Ingress"] } }],
  ["policy/v1", "PodDisruptionBudget", { spec: { minAvailable: "50%", selector: { matchLabels: labels } } }],
  ["rbac.authorization.k8s.io/v1", "Role", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }],
  [
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" },
      subjects: [{ kind: "User", name: "system:x", apiGroup: "rbac.authorization.k8s.io" }],
    },
  ],
  [
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" } } },
  ],
  [
    "rbac.authorization.k8s.io/v1",
    "ClusterRole",
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { none: "no" } }] }, rules: [] },
  ],
  [
    "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding",
    { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "a" } },
  ],
  ["scheduling.k8s.io/v1", "PriorityClass", { value: 7, globalDefault: false, description: "on: off" }],
  ["storage.k8s.io/v1", "StorageClass", { provisioner: "example.com/none", parameters: { type: "1" } }],
];

/** These are in no namespace. */
const OF_CLUSTER = ["ClusterRole", "ClusterRoleBinding", "PriorityClass", "StorageClass"];

/** Runs a kubectl for all objects, and gives them as it prints them. */
const run = async (verb: readonly string[], manifests: string): Promise<readonly KubeObject[]> => {
  const { stdout, stderr } = await kubectlWith({ stdin: manifests }, ...verb, "-f", "-", "-o", "json");
  const { items } = asObject(parseJson(stdout));
  if (!Array.isArray(items)) throw new Error(stderr);
  return items.filter(isKubeObject);
};

const filesOf = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map((object) => canonicalYaml(sanitised(object)));

it("the file of an object gives the object back, and changes nothing of a live one", async () => {
  const namespace = await freshNamespace();
  const items = OBJECTS.map(([apiVersion, kind, fields], at) => {
    const place = OF_CLUSTER.includes(kind) ? { name: `${namespace}-${at}` } : { name: `file-${at}`, namespace };
    return { apiVersion, kind, metadata: { ...place, labels, annotations: { "example.com/n": "1" } }, ...fields };
  });
  const first = await run(["apply"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const files = filesOf(first);
  expect(files).toHaveLength(OBJECTS.length);
  const all = files.join("---\n");

  expect(filesOf(await run(["apply", "--server-side", "--force-conflicts"], all))).toEqual(files);

  const deleted = await kubectlWith({ stdin: all }, "delete", "--cascade=orphan", "-f", "-");
  expect(deleted).toMatchObject({ code: 0 });
  expect(await kubectlWith({ stdin: all }, "create", "-f", "-")).toMatchObject({ code: 0 });
  const again = await run(["get"], all);
  expect(filesOf(again)).toEqual(files);
  const uids = new Set(first.map(({ metadata }) => metadata.uid));
  expect(again.filter(({ metadata }) => uids.has(metadata.uid))).toEqual([]);
  await kubectlWith({ stdin: all }, "delete", "--wait=false", "-f", "-");
});
