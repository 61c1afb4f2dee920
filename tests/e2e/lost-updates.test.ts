import type { Hook, KubeObject } from "@janus/kube";
import { without } from "@janus/types";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { applying, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap, secret } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

/** Does something once, right before the change of that target goes out: after everything was prepared. */
const before = (name: string, meddle: () => Promise<unknown>): Hook => {
  let done = false;
  return async (request, next) => {
    if (!done && isChangeOf(name)(request)) {
      done = true;
      await meddle();
    }
    return next(request);
  };
};

const there = (data: Readonly<Record<string, string>>) => configMap("there", data);
const service = (spec: object): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "there" },
  spec,
});
const port = (name: string, more: object = {}) => ({ name, port: 80, ...more });

interface Container {
  readonly name: string;
  readonly image: string;
}
const [web, side]: readonly [Container, Container] = [
  { name: "web", image: "web:1" },
  { name: "side", image: "side:1" },
];
const newWeb: Container = { name: "web", image: "web:2" };

/** Paused: no controller writes it. */
const deployment = (containers: readonly Container[], more: object = {}): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "there" },
  spec: {
    replicas: 3,
    paused: true,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers } },
    ...more,
  },
});

/** Controllers report a status at any time. */
const withoutStatus = (object: KubeObject) => ({
  ...without(object, ["status", "metadata"]),
  generation: object.metadata.generation,
});

type Row = readonly [what: string, former: Manifest, theirs: Manifest, change: WrittenChange, field: string];

it.each<Row>([
  [
    "a Patch that repeats a value that others have changed",
    there({ a: "1", b: "1" }),
    there({ a: "theirs" }),
    patching(there({ a: "1", b: "2" })),
    ".data.a",
  ],
  [
    "a Patch that repeats a value of a Secret as text",
    secret("there", { a: "1", b: "1" }),
    secret("there", { a: "theirs" }),
    patching(secret("there", { a: "1", b: "2" })),
    ".data.a",
  ],
  [
    "an Update that repeats the former object",
    there({ a: "1", b: "1" }),
    there({ a: "theirs" }),
    updating(there({ a: "1", b: "1" })),
    ".data.a",
  ],
  [
    "a Patch that repeats a key that others have removed",
    there({ a: "1", b: "1" }),
    { ...there({}), data: { a: null } },
    patching(there({ a: "1", b: "2" })),
    ".data.a",
  ],
  [
    "a Patch that repeats a list item that others have removed",
    deployment([web, side]),
    deployment([web]),
    patching(deployment([newWeb, side])),
    '.spec.template.spec.containers[name="side"]',
  ],
  [
    "a Patch of a list item that others have added",
    deployment([web]),
    deployment([web, { name: "side", image: "theirs:1" }]),
    patching(deployment([newWeb, side])),
    '.spec.template.spec.containers[name="side"].image',
  ],
  [
    "a Patch that repeats list items which others have put into another order",
    deployment([web, side]),
    deployment([side, web]),
    patching(deployment([newWeb, side])),
    ".spec.template.spec.containers",
  ],
  [
    "a Patch of a map that is replaced as a whole, to which others have added a key",
    service({ ports: [{ port: 80 }], selector: { app: "web", version: "v1" } }),
    service({ selector: { canary: "yes" } }),
    patching(service({ selector: { app: "web", version: "v2" } })),
    ".spec.selector",
  ],
  [
    "a Patch of a list item that leaves a key to its default",
    service({ ports: [port("tcp"), port("udp", { protocol: "UDP" })] }),
    service({ ports: [port("udp", { protocol: "UDP" })] }),
    patching(service({ ports: [port("tcp")] })),
    '.spec.ports[port=80,protocol="TCP"]',
  ],
])("rolls back, and overwrites nothing: %s", async (_, former, theirs, change, field) => {
  const place = await workspace();
  await place.create(former);
  let live: unknown;
  await place.janus(before("there", async () => void (live = withoutStatus(await place.patch(theirs)))));
  const { status } = await place.run([change]);
  expect(status.conditions.find(({ type }) => type === "Stalled")).toMatchObject({
    reason: "ConflictDetected",
    message: expect.stringContaining(`${field} of `) as string,
  });
  expect(status.phase).toBe("RolledBack");
  expect(withoutStatus(await place.read(former))).toEqual(live);
});

it("rolls back a whole manifest of a Deployment that was scaled while a gate was waited for", async () => {
  const place = await workspace();
  await place.create(configMap("first"), deployment([web]));
  await place.janus();
  await place.submit([
    { ...patching(configMap("first", { a: "2" })), waitFor: ["jsonpath={.data.go}=yes"] },
    applying(deployment([newWeb])),
  ]);
  await expect.poll(async () => (await place.read(configMap("first")))["data"]).toEqual({ a: "2" });
  await kubectl("scale", "deployment", "there", "--replicas=7", "-n", place.namespace);
  await place.patch(configMap("first", { go: "yes" }));
  expect((await place.over()).status.phase).toBe("RolledBack");
  expect(await place.read(deployment([]))).toMatchObject({
    spec: { replicas: 7, template: { spec: { containers: [web] } } },
  });
});

it.each<readonly [what: string, former: Manifest, theirs: Manifest, change: WrittenChange, result: object]>([
  [
    "an autoscaler has scaled a Deployment whose Patch sets no replicas",
    deployment([web]),
    deployment([web], { replicas: 7 }),
    patching(deployment([newWeb], { replicas: undefined })),
    { spec: { replicas: 7, template: { spec: { containers: [newWeb] } } } },
  ],
  [
    "others have added an item to a list of which the Patch sets another one",
    deployment([web]),
    deployment([web, side]),
    patching(deployment([newWeb])),
    { spec: { template: { spec: { containers: [newWeb, side] } } } },
  ],
  [
    "others have removed the last key beside the one that the Patch sets",
    there({ a: "1" }),
    { ...there({}), data: { a: null } },
    patching(there({ b: "2" })),
    { data: { b: "2" } },
  ],
  [
    "others have set the very value that the Patch sets",
    there({ a: "1" }),
    there({ a: "2" }),
    patching(there({ a: "2", b: "2" })),
    { data: { a: "2", b: "2" } },
  ],
])("continues, and keeps what others have done: %s", async (_, former, theirs, change, result) => {
  const place = await workspace();
  await place.create(former);
  await place.janus(before("there", () => place.patch(theirs)));
  expect((await place.run([change])).status.phase).toBe("Committed");
  expect(await place.read(former)).toMatchObject(result);
});

it("names the field manager who has added something that an Update would remove", async () => {
  const place = await workspace();
  await place.create(there({ a: "1" }));
  await place.janus(before("there", () => place.apply(there({ theirs: "1" }))));
  const { status } = await place.run([updating(there({ a: "2" }))]);
  expect(status.conditions.find(({ type }) => type === "Stalled")?.message).toMatch(
    `ConfigMap ${place.namespace}/there was modified by field manager "`,
  );
  expect(await place.read(there({}))).toMatchObject({ data: { a: "1", theirs: "1" } });
});

/** Of a kind, in which this map is merged, or replaced as a whole. */
const versionOf = (name: string, type: "atomic" | "granular") => {
  const selector = {
    type: "object",
    additionalProperties: { type: "string" },
    "x-kubernetes-map-type": type,
  };
  const spec = { type: "object", properties: { selector } };
  const openAPIV3Schema = { type: "object", properties: { spec } };
  return { name, served: true, storage: name === "v1", schema: { openAPIV3Schema } };
};

it("rolls back, and overwrites nothing, where a map is replaced as a whole only in the version of the change", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const crd = gadgets(place.namespace);
  const versions = [versionOf("v1", "atomic"), versionOf("v2", "granular")];
  await administrator.create({ ...crd, spec: { ...(crd["spec"] as object), versions } });
  onTestFinished(() => administrator.remove(crd));
  await kubectl("wait", "--for=condition=Established", "crd", crd.metadata.name);
  const { metadata } = gadget(place.namespace);
  const selecting = (name: "v1" | "v2", selector: object): Manifest => ({
    apiVersion: `${place.namespace}.example.com/${name}`,
    kind: "Gadget",
    metadata,
    spec: { selector },
  });
  await place.apply(selecting("v2", { app: "web" }));
  const theirs = { app: "web", theirs: "1" };
  await place.janus(before("one", () => place.apply(selecting("v2", theirs))));
  const { status } = await place.run([patching(selecting("v1", { app: "web2" }))]);
  expect(status.phase).toBe("RolledBack");
  expect((await place.read(selecting("v1", {})))["spec"]).toEqual({ selector: theirs });
});
