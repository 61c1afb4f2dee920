import { beforeAll, describe, expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

// Versions of a kind that have not the same fields, as operators have them although nothing converts between them: whatever is read
// or written in v1 is without what only v2 has.

const GROUP = "loss.test.janus.io";

const version = (name: string, fields: object): object => ({
  name,
  served: true,
  storage: name === "v2",
  schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: fields } } } },
});
const text = { type: "string" };
const crd = (isOldServed: boolean) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `parts.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { kind: "Part", plural: "parts" },
    versions: [
      { ...version("v0", { size: text, age: text }), served: isOldServed },
      version("v1", { size: text }),
      version("v2", { size: text, colour: text, shape: { ...text, default: "round" } }),
    ],
  },
});

const install = async (isOldServed: boolean): Promise<void> => {
  const manifest = crd(isOldServed);
  await kubectlWith({ stdin: JSON.stringify(manifest) }, "apply", "--server-side", "-f", "-");
  await kubectl("wait", "--for=condition=Established", "crd", manifest.metadata.name);
};

beforeAll(() => install(true));

const part = (version: "v0" | "v1" | "v2", spec: object = {}): Manifest => ({
  apiVersion: `${GROUP}/${version}`,
  kind: "Part",
  metadata: { name: "part" },
  spec,
});

const specOf = async (place: Workspace) => (await place.read(part("v2")))["spec"];

const shop = async (spec: object): Promise<Workspace> => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.create(part("v2", spec));
  return place;
};

const LOST = "has .spec.colour in loss.test.janus.io/v2, which a write in v1 loses";

describe("what an object has in another version of its kind alone", () => {
  it.each([
    ["Delete", deleting(part("v1"))],
    ["Patch", patching(part("v1", { size: "2" }))],
    ["Update", updating(part("v1", { size: "2" }))],
  ])("is not lost by a %s: it is refused", async (_, change) => {
    const place = await shop({ size: "1", colour: "red" });
    await place.janus();
    const { status } = await place.run([change]);
    expect(status).toMatchObject({ phase: "Failed", items: [{ error: expect.stringContaining(LOST) as string }] });
    expect(status.items[0]?.error).toContain(`set target.apiVersion to ${GROUP}/v2`);
    expect(await specOf(place)).toEqual({ size: "1", colour: "red", shape: "round" });
  });

  it.each([
    ["Delete", deleting(part("v2"))],
    ["Patch", patching(part("v2", { size: "2" }))],
  ])("comes back with a %s in that version", async (_, change) => {
    const place = await shop({ size: "1", colour: "red" });
    await place.janus(async (request, next) => {
      if (isChangeOf("last")(request)) await place.create(configMap("last"));
      return next(request);
    });
    const { status } = await place.run([change, creating(configMap("last"))]);
    expect(status.phase).toBe("RolledBack");
    expect(await specOf(place)).toEqual({ size: "1", colour: "red", shape: "round" });
  });

  it("is not lost by a rollback, where others have set it since: Failed, and said", async () => {
    const place = await shop({ size: "1" });
    await place.janus(async (request, next) => {
      if (isChangeOf("last")(request)) {
        await place.patch(part("v2", { colour: "theirs" }));
        await place.create(configMap("last"));
      }
      return next(request);
    });
    const { status } = await place.run([patching(part("v1", { size: "2" })), creating(configMap("last"))]);
    expect(status).toMatchObject({
      phase: "Failed",
      items: [{ error: expect.stringContaining(`${LOST}: not restored`) as string }, {}],
    });
    expect(await specOf(place)).toEqual({ size: "2", colour: "theirs", shape: "round" });
  });

  it.each([
    ["Delete", deleting(part("v1"))],
    ["Patch", patching(part("v1", { size: "2" }))],
  ])("is not lost by a %s, where others set it at the last moment", async (_, change) => {
    const place = await shop({ size: "1" });
    await place.janus(async (request, next) => {
      if (isChangeOf("part")(request) && (await specOf(place)) !== undefined)
        await place.patch(part("v2", { colour: "theirs" }));
      return next(request);
    });
    const { status } = await place.run([change]);
    expect(status).toMatchObject({ phase: "RolledBack", items: [{ error: expect.stringContaining(LOST) as string }] });
    expect(await specOf(place)).toEqual({ size: "1", colour: "theirs", shape: "round" });
  });

  it("is not lost where it has its default, which is set again", async () => {
    const place = await shop({ size: "1", shape: "round" });
    await place.janus(async (request, next) => {
      if (isChangeOf("last")(request)) {
        await kubectl("label", `parts.v2.${GROUP}`, "part", "by=them", "-n", place.namespace);
        await place.create(configMap("last"));
      }
      return next(request);
    });
    const { status } = await place.run([patching(part("v1", { size: "2" })), creating(configMap("last"))]);
    expect(status.phase).toBe("RolledBack");
    expect(await specOf(place)).toEqual({ size: "1", shape: "round" });
  });

  it("blocks nothing once it is no longer set", async () => {
    const place = await shop({ size: "1", colour: "red" });
    await place.apply(part("v1", { size: "1" }));
    await place.janus();
    const { status } = await place.run([patching(part("v1", { size: "2" }))]);
    expect(status.phase).toBe("Committed");
  });
});

const hpa = (version: string, spec: object): Manifest => ({
  apiVersion: `autoscaling/${version}`,
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web" },
  spec,
});

it("an object that others have in another version, which has the same under another name, is patched and rolled back", async () => {
  const place = await workspace();
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const memory = { name: "memory", target: { type: "Utilization", averageUtilization: 50 } };
  const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } };
  const metrics = [{ type: "Resource", resource: memory }];
  await place.create(hpa("v2", { maxReplicas: 3, scaleTargetRef, metrics, behavior }));
  const before = (await place.read(hpa("v2", {})))["spec"];
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last"));
    return next(request);
  });
  const { status } = await place.run([patching(hpa("v1", { maxReplicas: 9 })), creating(configMap("last"))]);
  expect(status.phase).toBe("RolledBack");
  expect((await place.read(hpa("v2", {})))["spec"]).toEqual(before);
});

it("an object that was written in a version that is served no more is patched all the same", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.create(part("v0", { size: "1", age: "old" }));
  await install(false);
  const isServed = async () => (await kubectl("get", `parts.v0.${GROUP}`, "-n", place.namespace)).code === 0;
  await expect.poll(isServed).toBe(false);
  await place.janus();
  const { status } = await place.run([patching(part("v1", { size: "2" }))]);
  expect(status.phase).toBe("Committed");
  expect(await specOf(place)).toEqual({ size: "2", shape: "round" });
});
