import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { applying, creating } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { workspace } from "../fixtures/workspace.ts";

const pod = { containers: [{ name: "app", image: "registry.k8s.io/pause:3.10", ports: [{ containerPort: 80 }] }] };
const template = { metadata: { labels: { app: "a" } }, spec: pod };
const selector = { matchLabels: { app: "a" } };
/** Of each what its manifest has at least: the rest are defaults, which are of kubectl's field manager, too. */
const KINDS: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ["v1", "Service", { spec: { type: "LoadBalancer", selector: { app: "a" }, ports: [{ port: 80 }] } }],
  [
    "v1",
    "PersistentVolumeClaim",
    { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  ],
  ["v1", "Pod", { spec: pod }],
  ["batch/v1", "Job", { spec: { template: { spec: { ...pod, restartPolicy: "Never" } } } }],
  [
    "batch/v1",
    "CronJob",
    {
      spec: {
        schedule: "0 0 * * *",
        jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: "Never" } } } },
      },
    },
  ],
  [
    "apps/v1",
    "StatefulSet",
    {
      spec: {
        serviceName: "a",
        selector,
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: "d" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
  ],
  ["apps/v1", "DaemonSet", { spec: { selector, template } }],
  ["apps/v1", "Deployment", { spec: { selector, template } }],
  ["apps/v1", "ReplicaSet", { spec: { selector, template } }],
  [
    "networking.k8s.io/v1",
    "Ingress",
    {
      spec: {
        rules: [
          {
            host: "a.b",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "a", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  ],
  ["networking.k8s.io/v1", "NetworkPolicy", { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } }],
  [
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" } } },
  ],
  ["policy/v1", "PodDisruptionBudget", { spec: { minAvailable: 1, selector } }],
  ["v1", "Secret", { stringData: { a: "b" } }],
  ["v1", "ServiceAccount", {}],
  ["rbac.authorization.k8s.io/v1", "Role", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }],
  [
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", name: "a" }],
    },
  ],
  ["v1", "ResourceQuota", { spec: { hard: { pods: "100" } } }],
  ["v1", "LimitRange", { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } }],
  [
    "discovery.k8s.io/v1",
    "EndpointSlice",
    { addressType: "IPv4", endpoints: [{ addresses: ["10.1.1.1"] }], ports: [{ port: 80 }] },
  ],
  ["coordination.k8s.io/v1", "Lease", { spec: { holderIdentity: "a" } }],
  ["v1", "ReplicationController", { spec: { selector: { app: "a" }, template } }],
];
/** Its gate is not met: all is rolled back. */
const fails = { ...creating(configMap("never")), waitFor: ["jsonpath={.data.never}=x"], waitTimeout: "1s" };

it("removes what kubectl apply has set, and nothing else, whatever the kind, and brings it back", async () => {
  const wrong = await sideBySide(6, KINDS, async ([apiVersion, kind, rest]) => {
    try {
      const place = await workspace();
      await clusterAdmin(place.namespace);
      const manifest = (labels: Readonly<Record<string, string>>): Manifest => ({
        apiVersion,
        kind,
        ...rest,
        metadata: { name: "a", labels },
      });
      const { metadata, ...fields } = manifest({ old: "1" });
      const stdin = JSON.stringify({ ...fields, metadata: { ...metadata, namespace: place.namespace } });
      const { code, stderr } = await kubectlWith({ stdin }, "apply", "-f", "-");
      expect(code, stderr).toBe(0);
      await place.janus();
      const { metadata: was, spec } = await place.read(manifest({}));
      const failed = await place.run([applying(manifest({ new: "1" })), fails], { name: "fails" });
      expect([failed.status.phase, failed.status.items[0]?.error]).toEqual(["RolledBack", undefined]);
      const back = await place.read(manifest({}));
      expect([back.metadata.labels, back["spec"]]).toEqual([was.labels, spec]);
      const { status } = await place.run([applying(manifest({ new: "1" }))], { name: "does" });
      expect([status.phase, status.items[0]?.error]).toEqual(["Committed", undefined]);
      const done = await place.read(manifest({}));
      expect([done.metadata.labels, done["spec"]]).toEqual([{ ...was.labels, old: undefined, new: "1" }, spec]);
      // What kubectl compares its next apply with stays; controllers add annotations meanwhile.
      expect(done.metadata.annotations).toMatchObject(was.annotations ?? {});
      return [];
    } catch (error) {
      return [`${kind}: ${String(error).slice(0, 600)}`];
    }
  });
  expect(wrong.flat()).toEqual([]);
});
