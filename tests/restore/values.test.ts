import { beforeAll, describe, expect, it } from "vitest";
import { podTemplate } from "./kinds.ts";
import { policy } from "./policy.ts";
import { compared, manifest, openScene } from "./scene.ts";
import { type Fields, owners, target } from "./target.ts";

beforeAll(openScene);

const container = { name: "web", image: "web:1", args: ["--x"], command: ["run"], env: [{ name: "E", value: "v" }] };
const podSpec = {
  ...podTemplate("web:1").spec,
  containers: [container],
  hostNetwork: true,
  nodeSelector: { disk: "fast" },
  tolerations: [{ key: "a", operator: "Exists" }],
};
const template = { ...podTemplate("web:1"), spec: podSpec };
const deployment = { replicas: 0, paused: true, selector: { matchLabels: { app: "web" } }, template };
const inPod = (fields: Fields): Fields => ({ spec: { template: { spec: fields } } });
const inContainer = (fields: Fields): Fields => inPod({ containers: [{ name: "web", ...fields }] });
const anew = (fields: Fields): Fields => ({
  spec: { ...deployment, template: { ...template, spec: { ...podSpec, ...fields } } },
});
const service = { selector: { app: "x" }, ports: [{ name: "http", port: 80, protocol: "TCP" }] };
const ingressPolicy = { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ from: [{ podSelector: {} }] }] };

type Row = readonly [
  what: string,
  apiVersion: string,
  kind: string,
  applied: Fields,
  type: "Patch" | "Update",
  content: Fields,
];

const emptied: readonly Row[] = [
  ["false", "apps/v1", "Deployment", { spec: deployment }, "Patch", { spec: { paused: false } }],
  ["a list", "apps/v1", "Deployment", { spec: deployment }, "Patch", inContainer({ args: [] })],
  [
    "the value of a variable",
    "apps/v1",
    "Deployment",
    { spec: deployment },
    "Patch",
    inContainer({ env: [{ name: "E", value: "" }] }),
  ],
  ["several", "apps/v1", "Deployment", { spec: deployment }, "Patch", inPod({ hostNetwork: false, tolerations: [] })],
  [
    "false",
    "apps/v1",
    "Deployment",
    { spec: deployment },
    "Update",
    { spec: { ...deployment, paused: false, minReadySeconds: 0 } },
  ],
  [
    "all sorts",
    "apps/v1",
    "Deployment",
    { spec: deployment },
    "Update",
    anew({
      hostNetwork: false,
      tolerations: [],
      nodeSelector: {},
      containers: [{ name: "web", image: "web:1", args: [], command: null, env: [{ name: "E", value: "" }] }],
    }),
  ],
  ["a selector", "v1", "Service", { spec: service }, "Patch", { spec: { selector: {} } }],
  ["a selector", "v1", "Service", { spec: service }, "Update", { spec: { ...service, selector: {} } }],
  ["rules", "networking.k8s.io/v1", "NetworkPolicy", { spec: ingressPolicy }, "Patch", { spec: { ingress: [] } }],
  [
    "rules",
    "networking.k8s.io/v1",
    "NetworkPolicy",
    { spec: ingressPolicy },
    "Update",
    { spec: { ...ingressPolicy, ingress: [] } },
  ],
  ["a value", "v1", "ConfigMap", { data: { a: "1" } }, "Patch", { data: { a: "" } }],
  ["all data", "v1", "ConfigMap", { data: { a: "1" } }, "Update", { data: null }],
];

const owned: readonly Row[] = [
  ["data", "v1", "ConfigMap", { data: {} }, "Patch", { data: { a: "1" } }],
  ["data", "v1", "ConfigMap", { data: {} }, "Update", { data: { a: "1" } }],
  ["labels", "v1", "ConfigMap", { metadata: { labels: {} } }, "Patch", { metadata: { labels: { a: "1" } } }],
];

const leftOut: readonly Row[] = [
  [
    "what only a load balancer has",
    "v1",
    "Service",
    { spec: { ...service, type: "LoadBalancer", externalTrafficPolicy: "Local" } },
    "Patch",
    { spec: { type: "ClusterIP" } },
  ],
  [
    "what only a load balancer has",
    "v1",
    "Service",
    { spec: { ...service, type: "LoadBalancer", externalTrafficPolicy: "Local" } },
    "Update",
    { spec: { ...service, type: "ClusterIP" } },
  ],
];

describe.each([
  ["what a change emptied has its value again, though the API server keeps no empty values", emptied],
  ["who owns an empty map does so again", owned],
  ["what the API server left out comes back with what it goes with", leftOut],
])("%s", (about, rows) => {
  it.each(rows.map((row, at) => [...row, at] as const))(
    "%s of %s %s, applied as %o, by %s",
    async (_, apiVersion, kind, applied, type, content, at) => {
      const object = await target(manifest(apiVersion, kind, `${about.split(" ", 2).join("-")}-${at}`));
      await object.apply("gitops", applied);
      const { before, restore } = await object.change(type, content);
      const restored = await restore();
      expect(restored).toMatchObject({ conflicts: [], isOurs: false });
      expect(compared(kind, restored.object)).toEqual(compared(kind, before));
      expect(restored.puts).toBeLessThanOrEqual(2);
    },
  );
});

it("the manager of an empty map manages it again, whatever other clients have written elsewhere since", async () => {
  const object = await target(manifest("v1", "ConfigMap", "empty-and-labelled"));
  await object.apply("gitops", { data: {} });
  const { before, restore } = await object.change("Patch", { data: { a: "1" } });
  await object.edit("person", { metadata: { labels: { by: "person" } } });
  const restored = await restore();
  expect(restored).toMatchObject({ conflicts: [], isOurs: false });
  expect(owners(restored.object)).toHaveLength(2);
  expect(owners(restored.object)).toEqual(expect.arrayContaining([...owners(before)]));
});

const daemon = (image: string): Fields => ({
  spec: { selector: { matchLabels: { app: "web" } }, template: podTemplate(image) },
});

describe("what the API server lets nobody set stays as it makes it, and the rest is rolled back", () => {
  const generation = "deprecated.daemonset.template.generation";
  it.each(["Patch", "Update"] as const)("the generation of a DaemonSet, after a %s", async (type) => {
    const object = await target(manifest("apps/v1", "DaemonSet", `generation-${type.toLowerCase()}`));
    await object.apply("gitops", daemon("web:1"));
    const { before, restore } = await object.change(type, daemon("web:2"));
    const restored = await restore();
    expect(restored).toMatchObject({ conflicts: [], isOurs: false });
    expect(restored.object).toMatchObject({ spec: before["spec"], metadata: { annotations: { [generation]: "3" } } });
    expect(owners(restored.object)).toEqual(owners(before));
    expect(restored.puts).toBeLessThanOrEqual(2);
  });

  it.each(["Patch", "Update"] as const)(
    "a stamp that a policy gives each write, as who wrote last, after a %s",
    async (type) => {
      const config = manifest("v1", "ConfigMap", `stamped-${type.toLowerCase()}`);
      const { namespace = "" } = config.metadata;
      await policy(namespace, 'metadata: Object.metadata{annotations: {"stamp": oldObject.metadata.resourceVersion}}');
      const object = await target(config);
      await object.apply("gitops", { data: { a: "1" } });
      const isStamped = async (): Promise<unknown> =>
        (await object.edit("person", { metadata: { labels: { by: "person" } } })).metadata.annotations?.["stamp"];
      await expect.poll(isStamped).toBeDefined();
      const { before, restore } = await object.change(type, { data: { a: "2" } });
      const restored = await restore();
      expect(restored).toMatchObject({ conflicts: [], isOurs: false });
      expect(restored.object["data"]).toEqual({ a: "1" });
      expect(owners(restored.object)).toEqual(owners(before));
    },
  );
});
