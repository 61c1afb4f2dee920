import { REQUEST_ROLLBACK } from "@janus/api";
import type { Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import {
  applying,
  creating,
  deleting,
  patching,
  replacing,
  updating,
  type WrittenChange,
} from "../fixtures/changes.ts";
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

it.each(["kept", "lost"])(
  "keeps what others have written where it is unknown whether an Update was made, with a journal that is %s in a retry",
  async (journal) => {
    const place = await workspace({ recoveryDelay: 1000 });
    await place.create(configMap("a", { ours: "old", other: "old" }));
    let [isSent, isFailed, isLost] = [false, false, journal === "kept"];
    await place.janus(async (request, next) => {
      if (isChangeOf("a")(request) && !isSent) {
        isSent = true;
        // It never arrives; and nothing shows who has edited the target meanwhile.
        await place.patch(configMap("a", { other: "theirs" }));
        await place.patch({ ...configMap("a"), metadata: { name: "a", managedFields: [{}] } });
        return E.left({ type: "unanswered", cause: "connection", message: "the reply was lost" });
      }
      const answer = await next(request);
      const { status } = ("body" in request ? request.body : {}) as { readonly status?: { readonly phase?: string } };
      if (status?.phase === "Failed") isFailed = true;
      if (status?.phase !== "RollingBack" || !isFailed || isLost) return answer;
      isLost = true;
      await loseJournal(place);
      return answer;
    });
    await place.submit([updating(configMap("a", { ours: "new" }))]);
    const retried = async () => {
      const { phase, recovery } = (await place.txn()).status as Status;
      return phase === "Failed" && (recovery?.attempts ?? 0) > 0;
    };
    await expect.poll(retried).toBe(true);
    expect(isLost).toBe(true);
    expect((await place.read(configMap("a")))["data"]).toEqual({ ours: "old", other: "theirs" });
  },
);

it.each([
  ["an Update", updating, "Failed"],
  ["a Patch", patching, "RolledBack"],
  ["an Apply", applying, "RolledBack"],
  ["a Replace", replacing, "Failed"],
  ["a Delete", deleting, "Failed"],
] as const)(
  "keeps what others have written since %s was rolled back, before the journal was lost, where nothing shows who has",
  async (_, changing, phase) => {
    const place = await workspace();
    await place.create(configMap("a", { ours: "old", other: "old" }), configMap("b"));
    await place.submit([changing(configMap("a", { ours: "new" })), patching(configMap("b", { ours: "new" }))]);
    await diesAt(place, isChangeOf("b"), "before");
    await requestRollback(place);
    await diesAt(place, ({ purpose, verb }) => purpose === "restore" && verb !== "delete", "after");
    expect((await place.read(configMap("a")))["data"]).toEqual({ ours: "old", other: "old" });
    await place.patch(configMap("a", { other: "theirs" }));
    await place.patch({ ...configMap("a"), metadata: { name: "a", managedFields: [{}] } });
    await loseJournal(place);

    await place.janus();
    const { status } = await place.over();
    expect((await place.read(configMap("a")))["data"]).toEqual({ ours: "old", other: "theirs" });
    expect(status.phase).toBe(phase);
  },
);

it("deletes only on request what it has left there on purpose, though nothing speaks for that any more", async () => {
  const place = await workspace();
  await place.create(configMap("b", { value: "old" }));
  const first = await place.janus();
  const run = async (name: string, ...changes: readonly WrittenChange[]): Promise<void> => {
    await place.submit(changes, { name, rollbackWindow: "1h" });
    await expect.poll(async () => ((await place.txn(name)).status as Status).reversibleUntil).toBeDefined();
  };
  await run("txn", patching(configMap("b", { value: "new" })), creating(configMap("a")));
  await run("later", patching(configMap("a", { later: "1" })));
  await first.stop();
  await requestRollback(place);
  await diesAt(place, ({ purpose, verb }) => purpose === "restore" && verb === "update", "before");
  const { managedFields = [] } = (await place.read(configMap("a"))).metadata;
  const rest = managedFields.filter(({ manager = "" }) => !manager.includes("later"));
  await place.patch({ ...configMap("a"), metadata: { name: "a", managedFields: rest } });
  await loseJournal(place);

  await place.janus();
  expect((await place.over()).status.phase).toBe("Failed");
  expect(await place.exists(configMap("a"))).toBe(true);
});

interface Status {
  readonly reversibleUntil?: string;
  readonly phase: string;
  readonly recovery?: { readonly attempts: number };
}
