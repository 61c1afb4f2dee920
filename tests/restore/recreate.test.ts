import { beforeAll, describe, expect, it } from "vitest";
import { kubectl } from "../fixtures/cluster.ts";
import { custom, GROUP, podTemplate } from "./kinds.ts";
import { compared, manifest, openScene } from "./scene.ts";
import { type Fields, target } from "./target.ts";

beforeAll(openScene);

const job = {
  suspend: true,
  template: { ...podTemplate("web:1"), spec: { ...podTemplate("web:1").spec, restartPolicy: "Never" } },
};

describe("what was deleted and is created again has its owners back", () => {
  it.each<readonly [string, string, string, Fields]>([
    [
      "v1",
      "ConfigMap",
      "gone",
      { immutable: true, data: { a: "1" }, metadata: { labels: { x: "y" }, annotations: { n: "1" } } },
    ],
    ["v1", "ConfigMap", "generated", { metadata: { generateName: "gen" } }],
    ["v1", "Secret", "gone", { stringData: { key: "é" } }],
    ["v1", "Service", "gone", { spec: { selector: { app: "x" }, ports: [{ port: 80 }] } }],
    ["v1", "ServiceAccount", "gone", {}],
    [
      "policy/v1",
      "PodDisruptionBudget",
      "gone",
      { spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } } },
    ],
    [
      "rbac.authorization.k8s.io/v1",
      "ClusterRole",
      "a:b",
      { rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }] },
    ],
    ["v1", "Pod", "gone", { spec: podTemplate("web:1").spec }],
    ["batch/v1", "Job", "gone", { spec: job }],
    [
      "batch/v1",
      "Job",
      "gone-by-hand",
      {
        spec: {
          ...job,
          manualSelector: true,
          selector: { matchLabels: { app: "web" } },
        },
      },
    ],
    ["batch/v1", "CronJob", "gone", { spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: job } } }],
    [
      "apps/v1",
      "StatefulSet",
      "gone",
      {
        spec: {
          replicas: 0,
          serviceName: "web",
          selector: { matchLabels: { app: "web" } },
          template: podTemplate("web:1"),
          volumeClaimTemplates: [
            {
              metadata: { name: "data" },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          ],
        },
      },
    ],
    [
      "networking.k8s.io/v1",
      "Ingress",
      "gone",
      { spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } } },
    ],
    [`${GROUP}/v1`, "Plain", "gone", { spec: custom, status: { phase: "x" } }],
    [`${GROUP}/v1`, "Split", "gone", { spec: custom }],
  ])("%s %s %s", async (apiVersion, kind, name, fields) => {
    const { metadata, ...identity } = manifest(apiVersion, kind, name);
    const clusterScoped = kind === "ClusterRole";
    const clusterName = `${metadata.namespace}:${name}`;
    const object = await target({ ...identity, metadata: clusterScoped ? { name: clusterName } : metadata });
    await object.create("kubectl", { ...fields });
    const { before, object: again, wasMarked, isOurs } = await object.recreate();
    if (clusterScoped) await kubectl("delete", "clusterrole", clusterName);
    expect({ wasMarked, isOurs }).toEqual({ wasMarked: true, isOurs: false });
    expect(again.metadata.uid).not.toBe(before.metadata.uid);
    expect(compared(kind, again)).toEqual(compared(kind, before));
  });
});
