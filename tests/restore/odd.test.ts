import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { GROUP, podTemplate } from "./kinds.ts";
import { manifest, openScene } from "./scene.ts";
import { type Fields, lasting, owners, target } from "./target.ts";

beforeAll(openScene);

/** Who wrote `b3` is called m3. */
const written = { a: "0", ...Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`b${n}`, `${n}`])) };

it.each(["Patch", "Update"] as const)(
  "an object of which nothing was booked is without owners again after a %s",
  async (type) => {
    const object = await target(manifest("v1", "ServiceAccount", `unbooked-${type.toLowerCase()}`));
    await object.create("kubectl");
    const content = { metadata: { labels: { by: "us" } }, automountServiceAccountToken: false };
    const { before, restore } = await object.change(type, content);
    expect(before.metadata.managedFields).toBeUndefined();
    const restored = await restore();
    expect(restored).toMatchObject({ conflicts: [], isOurs: false });
    expect(lasting(restored.object)).toEqual(lasting(before));
  },
);

it("an object whose books were cleared is without owners again", async () => {
  const object = await target(manifest("v1", "ConfigMap", "cleared", { data: { a: "1", b: "1" } }));
  await object.create("kubectl");
  await object.edit("person", { metadata: { managedFields: [{}] } });
  const { before, restore } = await object.change("Patch", { data: { a: "2" } });
  expect(before.metadata.managedFields).toBeUndefined();
  const restored = await restore();
  expect(restored).toMatchObject({ conflicts: [], isOurs: false });
  expect(lasting(restored.object)).toEqual(lasting(before));
});

it("an updater of two versions of a kind gets back in each what it owned there", async () => {
  const [kind, name] = ["HorizontalPodAutoscaler", "web"];
  const v1 = await target(manifest("autoscaling/v1", kind, name));
  const v2 = await target(manifest("autoscaling/v2", kind, name));
  await v2.create("person", {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
  });
  await v1.edit("person", { spec: { minReplicas: 2 } });
  const { before, restore } = await v2.change("Patch", { spec: { minReplicas: 1, maxReplicas: 9 } });
  const restored = await restore();
  expect(restored).toMatchObject({ conflicts: [], isOurs: false });
  expect(owners(restored.object)).toEqual(owners(before));
  expect(owners(before)).toHaveLength(2);
});

it.each(["Patch", "Update"] as const)(
  "a field that is called otherwise in another version of the kind is its owner's again after a %s",
  async (type) => {
    const [kind, name] = ["HorizontalPodAutoscaler", `other-version-${type.toLowerCase()}`];
    const v1 = await target(manifest("autoscaling/v1", kind, name));
    const v2 = await target(manifest("autoscaling/v2", kind, name));
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } };
    await v2.apply("gitops", {
      spec: { maxReplicas: 3, scaleTargetRef, metrics: [{ type: "Resource", resource: cpu }] },
    });
    const before = await v2.read();
    const { restore } = await v1.change(type, {
      spec: { scaleTargetRef, maxReplicas: 9, targetCPUUtilizationPercentage: 80 },
    });
    expect(await restore()).toMatchObject({ conflicts: [], isOurs: false });
    const after = await v2.read();
    expect(after["spec"]).toEqual(before["spec"]);
    expect(owners(after)).toEqual(owners(before));
  },
);

const metrics = (averageUtilization: number) => ({
  spec: {
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }],
  },
});

it.each(["Patch", "Update"] as const)(
  "a field that somebody has changed in another version of the kind since a %s is theirs",
  async (type) => {
    const [kind, name] = ["HorizontalPodAutoscaler", `taken-in-other-version-${type.toLowerCase()}`];
    const v1 = await target(manifest("autoscaling/v1", kind, name));
    const v2 = await target(manifest("autoscaling/v2", kind, name));
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    await v1.create("kubectl", { spec: { maxReplicas: 3, scaleTargetRef, targetCPUUtilizationPercentage: 50 } });
    const { restore } = await v1.change(type, {
      spec: { scaleTargetRef, maxReplicas: 9, targetCPUUtilizationPercentage: 80 },
    });
    await v2.edit("person", metrics(90));
    const { conflicts, isOurs } = await restore();
    expect({ conflicts, isOurs }).toEqual({ conflicts: [".spec.targetCPUUtilizationPercentage"], isOurs: false });
    expect(await v2.read()).toMatchObject({ spec: { maxReplicas: 3, ...metrics(90).spec } });
  },
);

it("a port that the API server gave a Service, and took with the type, is asked for again", async () => {
  const object = await target(manifest("v1", "Service", "node-port"));
  await object.apply("gitops", { spec: { type: "NodePort", selector: { app: "web" }, ports: [{ port: 80 }] } });
  const { before, changed, restore } = await object.change("Patch", { spec: { type: "ClusterIP" } });
  expect(changed["spec"]).not.toEqual(before["spec"]);
  const restored = await restore();
  expect(restored.conflicts).toEqual([]);
  expect(restored.puts).toBeLessThanOrEqual(2);
  expect(lasting(restored.object)).toEqual(lasting(before));
});

it("a port that the API server gave a Service in consequence of the change goes with it", async () => {
  const object = await target(manifest("v1", "Service", "cluster-ip"));
  await object.apply("gitops", { spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
  const { before, restore } = await object.change("Patch", { spec: { type: "NodePort" } });
  const restored = await restore();
  expect(restored.conflicts).toEqual([]);
  expect(lasting(restored.object)).toEqual(lasting(before));
});

const deploymentOf = (variables: object) => ({
  selector: { matchLabels: { app: "web" } },
  template: { ...podTemplate("web:1"), spec: { containers: [{ name: "web", image: "web:1", env: variables }] } },
});

it("environment variables that are named twice come back as they were, in their order", async () => {
  const env = [
    { name: "A", value: "1" },
    { name: "B", value: "1" },
    { name: "A", value: "2" },
  ];
  const object = await target(manifest("apps/v1", "Deployment", "twice"));
  await object.create("kubectl", { spec: deploymentOf(env) });
  const { before, restore } = await object.change("Update", {
    spec: deploymentOf(env.with(1, { name: "B", value: "2" })),
  });
  await object.edit("person", { spec: { paused: true } });
  const restored = await restore();
  expect(restored).toMatchObject({ conflicts: [], isOurs: false });
  expect(restored.object["spec"]).toEqual({ ...(before["spec"] as object), paused: true });
});

it.each(["Patch", "Update"] as const)(
  "a Secret has its values back after a %s that wrote them as stringData",
  async (type) => {
    const object = await target(manifest("v1", "Secret", `string-data-${type.toLowerCase()}`));
    await object.create("kubectl", { type: "Opaque", data: { key: "MQ==", other: "bw==" } });
    const content = { type: "Opaque", data: { other: "bm8=" }, stringData: { key: "ö", fresh: "3" } };
    const { before, changed, restore } = await object.change(type, content);
    expect(changed).toMatchObject({ data: { key: "w7Y=", fresh: "Mw==", other: "bm8=" } });
    const restored = await restore();
    expect(restored).toMatchObject({ conflicts: [], isOurs: false });
    expect(lasting(restored.object)).toEqual(lasting(before));
  },
);

it("a value of a Secret that somebody has changed since is theirs, though it was written as stringData", async () => {
  const object = await target(manifest("v1", "Secret", "string-data-taken"));
  await object.create("kubectl", { type: "Opaque", data: { key: "MQ==" } });
  const { restore } = await object.change("Patch", { stringData: { key: "2" } });
  await object.edit("person", { data: { key: "Mw==" } });
  const restored = await restore();
  expect(restored).toMatchObject({ conflicts: [".data.key"], isOurs: false });
  expect(restored.object).toMatchObject({ data: { key: "Mw==" } });
});

describe("an object that as many have written as the API server books by name", () => {
  it.each<readonly ["Patch" | "Update", string, Fields]>([
    ["Patch", "sets", { data: { a: "2" } }],
    ["Patch", "adds", { data: { z: "2" } }],
    ["Update", "sets", { data: { ...written, a: "2" } }],
    ["Update", "takes-away", { data: Object.fromEntries(Object.entries(written).slice(1)) }],
    ["Update", "replaces", { data: { z: "1" } }],
  ])("has all of their names back after a %s that %s", async (type, what, content) => {
    const object = await target(manifest("v1", "ConfigMap", `many-${type.toLowerCase()}-${what}`));
    await object.create("m0", { data: { a: "0", b0: "0" } });
    for (let n = 1; n < 10; n += 1) await object.edit(`m${n}`, { data: { [`b${n}`]: `${n}` } });
    // The books are kept in seconds, and the oldest entries are put together.
    await setTimeout(1000);
    const { before, changed, restore } = await object.change(type, content);
    expect(before.metadata.managedFields).toHaveLength(10);
    expect(object.isOurs(changed)).toBe(true);
    const restored = await restore();
    expect(restored).toMatchObject({ conflicts: [], isOurs: false });
    expect(lasting(restored.object)).toEqual(lasting(before));
  });
});

it("what an Update makes null is what it was again", async () => {
  const object = await target(manifest(`${GROUP}/v1`, "Plain", "null-update"));
  await object.apply("gitops", { status: { map: { a: 1 }, list: [1], text: "x" }, spec: { colour: "red" } });
  await object.edit("person", { status: { map: { b: 1 } } });
  const content = { status: { map: null, list: null, text: null }, spec: { colour: "red" } };
  const { before, changed, restore } = await object.change("Update", content);
  expect(changed["status"]).toMatchObject({ text: null });
  const restored = await restore();
  expect(restored).toMatchObject({ conflicts: [], isOurs: false });
  expect(lasting(restored.object)).toEqual(lasting(before));
});
