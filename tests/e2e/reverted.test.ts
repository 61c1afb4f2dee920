import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { creating, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { gate } from "../fixtures/gate.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { running } from "../fixtures/pod-status.ts";
import { podsOf, report } from "../fixtures/pods.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const message = ({ status }: Txn, type: string): string =>
  status?.conditions?.find((condition) => condition.type === type)?.message ?? "";

const waits = (place: Workspace): Promise<void> =>
  expect.poll(async () => message(await place.txn(), "Ready")).toMatch(/^waiting for /);

const web = (image: string) => deployment("web", image);
const never = ["jsonpath={.metadata.labels.never}"];
const second = (): number => Math.floor(Date.now() / 1000);
const last = creating(configMap("last"));

it("rolls back when another client puts the old image back while the new one is waited for", async () => {
  const place = await workspace();
  await place.apply(web("web:1"));
  for (const pod of await podsOf(place.namespace, "web", "web:1")) await report(pod, running);
  await place.create(configMap("web", { version: "1" }));
  await place.janus();
  await place.submit([{ ...patching(web("web:2")), waitFor: ["ready"] }, patching(configMap("web", { version: "2" }))]);
  await waits(place);
  await place.apply(web("web:1"));
  const txn = await place.over();
  expect(txn.status.phase).toBe("RolledBack");
  expect(txn.status.conditions.find(({ type }) => type === "Committed")).toMatchObject({ reason: "ConflictDetected" });
  expect(message(txn, "Ready")).toMatch(
    /changes\[0\]: \.spec\.template\.spec\.containers\[name="web"\]\.image of Deployment .*\/web was modified by field manager "installer"/,
  );
  expect(txn.status.items[0]?.error).toMatch(/was modified by field manager "installer"/);
  expect(await place.read(configMap("web"))).toMatchObject({ data: { version: "1" } });
});

const before = configMap("settings", { a: "1", b: "1", kept: "1" });
const edits: readonly (readonly [string, WrittenChange, Manifest, string])[] = [
  [
    "changes a value that a Patch has set",
    patching(configMap("settings", { a: "2" })),
    configMap("settings", { a: "3" }),
    ".data.a",
  ],
  [
    "removes a value that a Patch has set",
    patching(configMap("settings", { a: "2" })),
    { ...configMap("settings"), data: { a: null } },
    ".data.a",
  ],
  [
    "puts back a value that a Patch has removed",
    patching({ ...configMap("settings"), data: { b: null } }),
    configMap("settings", { b: "1" }),
    ".data.b",
  ],
  [
    "puts back a value that an Update has set",
    updating(configMap("settings", { a: "2", kept: "1" })),
    configMap("settings", { a: "1" }),
    ".data.a",
  ],
  [
    "removes a label that an Update has set",
    updating({ ...configMap("settings", { a: "2" }), metadata: { name: "settings", labels: { x: "1" } } }),
    { ...configMap("settings"), metadata: { name: "settings", labels: { x: null } } },
    ".metadata.labels",
  ],
];

it.each(edits)("rolls back, or says that it cannot, when another client %s", async (_, change, edit, path) => {
  const place = await workspace();
  await place.create(before);
  await place.janus();
  await place.submit([{ ...change, waitFor: never }, last]);
  await waits(place);
  // Two writes within a second look like one.
  const written = second();
  await expect.poll(second).toBeGreaterThan(written);
  await place.patch(edit);
  const txn = await place.over();
  expect(txn.status.phase).not.toBe("Committed");
  expect(message(txn, "Committed")).toContain(
    `changes[0]: ${path} of ConfigMap ${place.namespace}/settings was modified`,
  );
  expect(await place.exists(configMap("last"))).toBe(false);
});

it("goes on where null gives the default that the field had before, which is still of its former manager", async () => {
  const place = await workspace();
  const { spec, ...rest } = web("web:1");
  await place.apply({ ...rest, spec: { ...(spec as object), replicas: 1, revisionHistoryLimit: 10 } });
  await place.janus();
  const nulls = { ...rest, spec: { replicas: null, revisionHistoryLimit: null } };
  const txn = await place.run([{ ...patching(nulls), waitFor: ["jsonpath={.metadata.name}=web"] }]);
  expect([txn.status.phase, txn.status.items[0]?.error]).toEqual(["Committed", undefined]);
});

it("goes on when another client sets other fields, the same values, or the scale", async () => {
  const place = await workspace();
  const labelled = { ...configMap("settings"), metadata: { name: "settings", labels: { never: "" } } };
  await place.create(before, { ...web("web:1"), spec: { ...(web("web:1")["spec"] as object), replicas: 1 } });
  await place.janus();
  const ready = ["jsonpath={.metadata.labels.never}"];
  await place.submit([
    { ...patching(configMap("settings", { a: "2" })), waitFor: ready },
    { ...patching({ ...web("web:2"), spec: { ...(web("web:2")["spec"] as object), replicas: 2 } }), waitFor: ready },
    {
      ...creating({ ...configMap("made", { a: "1" }), metadata: { name: "made", labels: { l: "1" } } }),
      waitFor: ready,
    },
  ]);
  await waits(place);
  await place.apply(configMap("settings", { a: "2" }));
  await place.patch({ ...labelled, data: { b: "3" } });
  await expect.poll(async () => message(await place.txn(), "Ready")).toMatch(/Deployment/);
  await kubectl("scale", "deployment", "web", "--replicas=5", "-n", place.namespace);
  await place.patch({ ...web(""), metadata: { name: "web", labels: { never: "" } }, spec: undefined });
  await expect.poll(async () => message(await place.txn(), "Ready")).toMatch(/ConfigMap/);
  await place.patch({ ...configMap("made", { b: "2" }), metadata: { name: "made", labels: { never: "" } } });
  expect((await place.over()).status.phase).toBe("Committed");
});

it("takes no other object for its target that was put in its place while it is waited for", async () => {
  const place = await workspace();
  let isGone = false;
  const reading = gate(({ purpose }) => isGone && purpose === "read-target");
  await place.janus(reading.hook);
  await place.submit([{ ...creating(configMap("made", { a: "1" })), waitFor: never }, last]);
  await waits(place);
  isGone = true;
  await place.remove(configMap("made"));
  await place.create({ ...configMap("made", { a: "1" }), metadata: { name: "made", labels: { never: "" } } });
  reading.open();
  const txn = await place.over();
  expect(message(txn, "Committed")).toContain("was deleted and created again by another client");
  expect(txn.status.conditions.find(({ type }) => type === "Committed")).toMatchObject({ reason: "ConflictDetected" });
});
