import { REQUEST_ROLLBACK } from "@janus/api";
import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const NOBODY = "11111111-2222-3333-4444-555555555555";

const owner = configMap("owner");

const reference = (name: string, uid = NOBODY) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid });

const ownedBy = (...ownerReferences: readonly object[]): Manifest => ({
  ...configMap("dependent", { precious: "1" }),
  metadata: { name: "dependent", ownerReferences },
});

const dependent = async (place: Workspace): Promise<Manifest> => {
  const [made] = await place.create(owner);
  const manifest = ownedBy(reference("owner", made?.metadata.uid));
  await place.create(manifest);
  return manifest;
};

const takenBack = async (place: Workspace, change: WrittenChange, meanwhile: () => Promise<unknown>) => {
  await place.submit([change], { rollbackWindow: "1h" });
  const phase = async () => (await place.txn()).status?.phase;
  await expect.poll(phase).toBe("Committed");
  await meanwhile();
  const annotations = { [REQUEST_ROLLBACK]: "yes" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  await expect.poll(phase).toMatch(/RolledBack|Failed/);
  return (await place.over()).status;
};

/** Longer than the garbage collector takes. */
const laterOn = () => new Promise((resolve) => setTimeout(resolve, 4_000));

it.each<readonly [string, WrittenChange]>([
  ["a Delete", deleting(configMap("dependent"))],
  ["an Update without the owner", updating(ownedBy())],
])("restores an object without an owner that others have deleted since, so that it stays: %s", async (_, change) => {
  const place = await workspace();
  const manifest = await dependent(place);
  await place.janus();
  const { phase, conditions, items } = await takenBack(place, change, async () => {
    await place.remove(owner);
    await expect.poll(() => place.exists(owner)).toBe(false);
  });
  const told = `ConfigMap ${place.namespace}/dependent: restored without its owner, which another client has deleted: ConfigMap owner`;
  expect([phase, items[0]?.error]).toEqual(["RolledBack", told]);
  expect(conditions.find(({ type }) => type === "Ready")?.message).toContain(
    `rolled back, except for changes[0]: ${told}`,
  );
  await laterOn();
  const { metadata, ...rest } = await place.read(manifest);
  expect([metadata.ownerReferences, rest["data"]]).toEqual([undefined, { precious: "1" }]);
});

it("restores an object with the owner that is still there", async () => {
  const place = await workspace();
  const manifest = await dependent(place);
  await place.janus();
  const before = (await place.read(manifest)).metadata;
  const { phase, items } = await takenBack(place, deleting(manifest), async () => {});
  expect([phase, items[0]?.error]).toEqual(["RolledBack", undefined]);
  const { ownerReferences, managedFields } = (await place.read(manifest)).metadata;
  expect({ ownerReferences, managedFields }).toEqual({
    ownerReferences: before.ownerReferences,
    managedFields: before.managedFields,
  });
});

it.each<readonly [string, WrittenChange]>([
  [
    "a Create",
    creating({ ...ownedBy(reference("nobody")), metadata: { name: "new", ownerReferences: [reference("nobody")] } }),
  ],
  ["an Update", updating(ownedBy(reference("nobody")))],
  ["a Patch, of one with another uid", patching(ownedBy(reference("owner")))],
])("refuses a change that names an owner which does not exist: %s", async (_, change) => {
  const place = await workspace();
  await place.create(owner, configMap("dependent", { precious: "0" }));
  await place.janus();
  const { status } = await place.run([change]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toMatch(
    new RegExp(
      `would be garbage-collected: its owner ConfigMap (nobody|owner) \\(uid ${NOBODY}\\) does not exist: correct content.metadata.ownerReferences`,
      "u",
    ),
  );
  expect((await place.read(configMap("dependent")))["data"]).toEqual({ precious: "0" });
});

it("gives an object an owner that exists", async () => {
  const place = await workspace();
  const [made] = await place.create(owner);
  await place.janus();
  const { status } = await place.run([creating(ownedBy(reference("owner", made?.metadata.uid)))]);
  expect(status.phase).toBe("Committed");
});
