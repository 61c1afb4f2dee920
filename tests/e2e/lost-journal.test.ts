import { REQUEST_ROLLBACK } from "@janus/api";
import type { Request } from "@janus/kube";
import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { diesAt } from "../fixtures/dying.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const NAMES = ["a", "b", "c", "d"];

const loseJournal = async ({ remove, txn }: Workspace): Promise<void> =>
  remove(configMap(`janus-journal-${(await txn()).metadata.uid}`));

const requestRollback = async ({ patch }: Workspace): Promise<void> =>
  void (await patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "" } } }));

const valueOf = async ({ read }: Workspace, name: string): Promise<unknown> =>
  ((await read(configMap(name)))["data"] as { readonly value?: unknown }).value;

const isJournal = ({ purpose, verb }: Request): boolean => purpose === "journal" && verb === "create";

it("is found out from the targets, also if the process that did so died when it had written a new one", async () => {
  const place = await workspace();
  await place.create(...NAMES.map((name) => configMap(name, { value: "old" })));
  await place.submit(NAMES.map((name) => patching(configMap(name, { value: "new" }))));
  await diesAt(place, isChangeOf("d"), "before");
  expect(await Promise.all(NAMES.map((name) => valueOf(place, name)))).toEqual(["new", "new", "new", "old"]);
  await loseJournal(place);
  await diesAt(place, isJournal, "after");

  await requestRollback(place);
  await place.janus();
  expect((await place.over()).status.phase).toBe("RolledBack");
  expect(await Promise.all(NAMES.map((name) => valueOf(place, name)))).toEqual(["old", "old", "old", "old"]);
});

it("is found out from later targets where somebody has deleted what the first change had created", async () => {
  const place = await workspace();
  await place.create(...["b", "c", "d"].map((name) => configMap(name, { value: "old" })));
  await place.submit([
    creating(configMap("a", { value: "new" })),
    ...["b", "c", "d"].map((name) => patching(configMap(name, { value: "new" }))),
  ]);
  await diesAt(place, isChangeOf("d"), "before");
  await place.remove(configMap("a"));
  await loseJournal(place);

  await requestRollback(place);
  await place.janus();
  expect((await place.over()).status.phase).toBe("RolledBack");
  expect(await Promise.all(["b", "c", "d"].map((name) => valueOf(place, name)))).toEqual(["old", "old", "old"]);
  expect(await place.exists(configMap("a"))).toBe(false);
});

it("leaves it open, and says so, where a later target has changed without our mark", async () => {
  const place = await workspace();
  await place.create(...NAMES.map((name) => configMap(name, { value: "old" })));
  await place.submit(NAMES.map((name) => patching(configMap(name, { value: "new" }))));
  await diesAt(place, isChangeOf("b"), "before");
  await place.patch(configMap("b", { value: "theirs" }));
  await place.patch(configMap("c", { value: "theirs" }));
  await loseJournal(place);

  await place.janus();
  const { status } = await place.over();
  expect(status.phase).toBe("Failed");
  expect(status.items.map(({ error = "" }) => error.includes("the journal was lost"))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(await Promise.all(NAMES.map((name) => valueOf(place, name)))).toEqual(["old", "theirs", "theirs", "old"]);
});
