// A snapshot that was taken again, since others had edited the target right before its change, is not lost with the journal.
import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import type { Hook } from "@janus/kube";
import { expect, it } from "vitest";
import { deleting, patching, replacing } from "../fixtures/changes.ts";
import { diesAt } from "../fixtures/dying.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const loseJournal = async ({ remove, txn }: Workspace): Promise<void> =>
  remove(configMap(`janus-journal-${(await txn()).metadata.uid}`));

const request = async ({ patch }: Workspace, annotation: string): Promise<void> =>
  void (await patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [annotation]: "" } } }));

/** Another client edits the target right before its change arrives. */
const editedMeanwhile = (place: Workspace, name: string): Hook => {
  let isEdited = false;
  return async (request, next) => {
    if (isChangeOf(name)(request) && !isEdited) {
      isEdited = true;
      await place.patch(configMap(name, { other: "theirs" }));
    }
    return next(request);
  };
};

/** The change of a is made, and that of b is next. */
const begun = async (changing: typeof replacing): Promise<Workspace> => {
  const place = await workspace();
  await place.create(configMap("a", { ours: "old", other: "old" }), configMap("b"));
  await place.submit([changing(configMap("a", { ours: "new" })), patching(configMap("b", { ours: "new" }))]);
  await diesAt(place, isChangeOf("b"), "before", editedMeanwhile(place, "a"));
  return place;
};

const outcome = async (place: Workspace) => ({
  phase: (await place.over()).status.phase,
  data: (await place.read(configMap("a")))["data"],
});
const RESTORED = { phase: "RolledBack", data: { ours: "old", other: "theirs" } };

const storesIn = async (place: Workspace): Promise<readonly string[]> =>
  (await place.names("v1", "ConfigMap")).filter((name) => name.startsWith("txn-rollback"));

const TYPES = [
  ["Delete", deleting],
  ["Replace", replacing],
] as const;

it.each(TYPES)("lost while changes are applied: %s", async (_, changing) => {
  const place = await begun(changing);
  await loseJournal(place);
  await request(place, REQUEST_ROLLBACK);
  await place.janus();
  expect(await outcome(place)).toEqual(RESTORED);
});

it.each(TYPES)("lost while they are rolled back: %s", async (_, changing) => {
  const place = await begun(changing);
  await request(place, REQUEST_ROLLBACK);
  await diesAt(place, ({ purpose }) => purpose === "restore", "before");
  expect(await storesIn(place)).toHaveLength(2);
  await loseJournal(place);
  await place.janus();
  expect(await outcome(place)).toEqual(RESTORED);
});

it("lost while Failed: a retry says that it is to be restored by hand, and keeps it", async () => {
  const place = await begun(deleting);
  const stores = await storesIn(place);
  expect(stores).toHaveLength(2);
  await request(place, REQUEST_ROLLBACK);
  // Somebody else creates it meanwhile: that is left alone.
  await place.create(configMap("a", { whose: "somebody's" }));
  await place.janus();
  expect((await place.over()).status.phase).toBe("Failed");
  expect((await place.txn()).status.snapshots.map(({ name }) => name)).toEqual(stores);
  await place.remove(configMap("a"));
  await loseJournal(place);
  await request(place, RETRY_ROLLBACK);
  const isServed = async () => (await place.txn()).metadata.annotations?.[RETRY_ROLLBACK] === undefined;
  await expect.poll(isServed).toBe(true);
  expect((await place.over()).status.phase).toBe("Failed");
  expect(await storesIn(place)).toEqual(stores);
});
