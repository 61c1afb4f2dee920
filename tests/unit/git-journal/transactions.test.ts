// Tests which changes are a Transaction's, how long its files are held, and when it is committed.
import { type Phase, type Target, type Transaction, fieldManager, applyManager, decodeTransaction } from "@janus/api";
import type { JsonObject, KubeObject } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../../packages/git-journal/src/api/watch-rule.ts";
import { UNKNOWN, type Touch } from "../../../packages/git-journal/src/core/history.ts";
import { type FilePath, objectPath, ROOT } from "../../../packages/git-journal/src/core/path.ts";
import {
  deletedBy,
  type Evidence,
  heldFiles,
  type Hold,
  holdOf,
  type JournaledTransaction,
  journaledTransaction,
  marksOf,
  movedMarks,
  newestMark,
  resumed,
  showsChange,
} from "../../../packages/git-journal/src/core/transactions.ts";
import { right } from "./right.ts";

const UID = "11111111-2222-3333-4444-555555555555";
const OTHER = "99999999-2222-3333-4444-555555555555";
const ALL = new Set(OPERATIONS);

const pathOf = ({ name, namespace = "" }: Pick<Target, "name" | "namespace">): FilePath =>
  objectPath(ROOT, { group: "", version: "v1", resource: "configmaps", namespace, name });
const path = (name: string): FilePath => pathOf({ name, namespace: "shop" });

const change = (type: string, name: string): JsonObject => ({
  type,
  target: { apiVersion: "v1", kind: "ConfigMap", name },
  ...(type === "Delete" ? {} : { content: { data: { a: "b" } } }),
});
const applied = { prepared: true, committed: true, uid: "old", resourceVersion: "1" };
const decoded = (
  phase: Phase,
  items: readonly JsonObject[],
  annotations = {},
  changes = [change("Patch", "a"), change("Delete", "b"), change("Create", "c")],
): Transaction =>
  right(
    decodeTransaction({
      metadata: { name: "deploy", namespace: "shop", uid: UID, resourceVersion: "1", generation: 1, annotations },
      spec: { serviceAccountName: "sa", changes },
      status: { phase, items: items as JsonObject[], requestedBy: "alice", completedAt: "2026-01-01T00:00:10Z" },
    }),
  );
const journaled = (
  phase: Phase,
  items: readonly JsonObject[] = [applied, applied, { prepared: true, committed: true, created: "new" }],
): JournaledTransaction => journaledTransaction(decoded(phase, items), pathOf);

const evidence = (more: Partial<Evidence> = {}): Evidence => ({
  since: 1_000,
  shown: new Set(),
  isGone: false,
  ...more,
});
const MAX_WAIT = 20_000;

const object = (managedFields: readonly JsonObject[], metadata: JsonObject = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", managedFields, ...metadata },
});
const mark = (uid = UID, more: JsonObject = {}): JsonObject => ({
  manager: fieldManager({ name: "deploy", uid }),
  operation: "Update",
  time: "2026-01-01T00:00:00Z",
  ...more,
});

describe("what is read of a Transaction", () => {
  it.each([
    [`revert ${"a".repeat(40)}`, { commit: "a".repeat(40), reverts: true }],
    ["a".repeat(64), { commit: "a".repeat(64), reverts: false }],
    ["main", undefined],
    [`${"a".repeat(40)}\nSigned-off-by: x`, undefined],
  ])("the commit of the annotation %j, if it is one", (annotation, fromGit) => {
    const { fromGit: read } = journaledTransaction(
      decoded("Committed", [], { "janus.io/from-git": annotation }),
      pathOf,
    );
    expect(read).toEqual(fromGit);
  });

  it("targets in its own namespace, users, and by which sign each change is seen", () => {
    const txn = decoded("Committed", [applied, applied, { prepared: true, committed: true, created: "new" }], {
      "backup.janus.io/approved-by": "bob",
      "backup.janus.io/last-edited-by": "carol",
      "backup.janus.io/rollback-requested-by": "dave",
    });
    expect(journaledTransaction(txn, pathOf)).toEqual({
      namespace: "shop",
      name: "deploy",
      uid: UID,
      phase: "Committed",
      completedAt: Date.parse("2026-01-01T00:00:10Z"),
      users: { requestedBy: "alice", approvedBy: "bob", lastEditedBy: "carol", rollbackRequestedBy: "dave" },
      targets: [
        { path: path("a"), sign: { type: "mark" } },
        { path: path("b"), deletes: "old", sign: { type: "end", uid: "old" } },
        { path: path("c"), created: "new", sign: { type: "mark" } },
      ],
    });
  });

  it("targets that the branch does not have are none", () => {
    expect(journaledTransaction(decoded("Committed", []), () => undefined).targets).toEqual([]);
  });

  it.each<readonly [Phase, JsonObject, string]>([
    ["Committed", {}, "none"],
    ["RolledBack", { ...applied, rolledBack: true }, "read"],
    ["Failed", { ...applied, error: "x" }, "read"],
    ["Failed", { prepared: true, uid: "old", resourceVersion: "1", error: "x" }, "read"],
    ["Failed", { prepared: true, uid: "old", resourceVersion: "1", error: "x", rolledBack: true }, "none"],
  ])("%s, %j: %s", (phase, item, type) => {
    expect(journaled(phase, [item]).targets[0]?.sign.type).toBe(type);
  });
});

describe("a hold", () => {
  const all = new Set(["a", "b", "c"].map(path));
  it.each<readonly [string, Phase, Partial<Evidence>, number, Hold]>([
    ["nothing is held before it begins", "Pending", {}, 0, { type: "idle" }],
    ["held while it is active", "Committing", { shown: all }, 9e9, { type: "held" }],
    ["held while it is rolled back within its window", "RollingBack", {}, 9e9, { type: "held" }],
    ["due when all changes were seen", "Committed", { shown: all }, 1_000, { type: "due", isIncomplete: false }],
    [
      "the watch has two seconds",
      "Committed",
      { shown: new Set([path("a")]) },
      2_999,
      { type: "awaited", until: 3_000 },
    ],
    [
      "then the others are read",
      "Committed",
      { shown: new Set([path("a")]) },
      3_000,
      { type: "read", paths: [path("b"), path("c")] },
    ],
    ["what cannot be read is said", "Committed", {}, 21_000, { type: "due", isIncomplete: true }],
    ["released when it is gone", "Committing", { isGone: true, shown: all }, 0, { type: "due", isIncomplete: true }],
    [
      "released when it is gone after its end",
      "Committed",
      { isGone: true, shown: all },
      0,
      { type: "due", isIncomplete: false },
    ],
  ])("%s", (_, phase, more, now, expected) => {
    expect(holdOf(journaled(phase), evidence(more), MAX_WAIT, now)).toEqual(expected);
  });

  it("a failure before the first change waits for nothing", () => {
    expect(holdOf(journaled("Failed", [{ error: "x" }]), evidence(), MAX_WAIT, 1_000)).toEqual({
      type: "due",
      isIncomplete: false,
    });
  });

  it("ends: what has ended is due at the latest when the wait is over", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Phase>("Committed", "RolledBack", "Failed"),
        fc.subarray([...all]),
        fc.integer({ min: 0, max: 60_000 }),
        (phase, some, now) => {
          const { type } = holdOf(journaled(phase), evidence({ shown: new Set(some) }), MAX_WAIT, now);
          expect(type === "due" || now < 21_000).toBe(true);
          expect(type).not.toBe("held");
        },
      ),
    );
  });

  it("holds the targets of what has begun, and what was changed by one whose beginning was not seen yet", () => {
    const touch = (name: string, by: Touch["by"]): Touch => ({
      number: 1,
      path: path(name),
      version: undefined,
      operations: ALL,
      by,
      at: 0,
    });
    const touches = [
      touch("x", { type: "transaction", uid: UID }),
      touch("y", UNKNOWN),
      touch("z", { type: "transaction", uid: OTHER }),
    ];
    const held = (phase: Phase, hold: Hold) => [...heldFiles([{ transaction: journaled(phase), hold }], touches)];
    expect(held("Committing", { type: "held" })).toEqual(["a", "b", "c", "x"].map(path));
    expect(held("Committed", { type: "read", paths: [] })).toEqual(["a", "b", "c", "x"].map(path));
    expect(held("Pending", { type: "idle" })).toEqual([path("x")]);
    expect(held("Committed", { type: "due", isIncomplete: false })).toEqual([]);
  });
});

const fields = (...names: readonly string[]): JsonObject => ({
  fieldsV1: { "f:data": Object.fromEntries(names.map((name) => [`f:${name}`, {}])) },
});

describe("marks", () => {
  it("a change is a Transaction's if its mark has come or moved with it", () => {
    const none = marksOf(object([]));
    const first = marksOf(object([{ manager: "kubectl" }, mark()]));
    const moved = marksOf(object([mark(UID, { time: "2026-01-01T00:00:01Z" })]));
    expect(movedMarks(none, first)).toEqual([UID]);
    expect(movedMarks(first, first)).toEqual([]);
    expect(movedMarks(first, moved)).toEqual([UID]);
    expect(movedMarks(first, none)).toEqual([]);
    expect(movedMarks(none, marksOf(object([mark(), mark(OTHER)])))).toEqual([UID, OTHER]);
    expect(movedMarks(first, marksOf(object([mark(), mark(OTHER)])))).toEqual([OTHER]);
  });

  it("a mark that has only lost fields to others has not moved", () => {
    const before = marksOf(object([mark(UID, fields("a", "b"))]));
    const byUser = object([mark(UID, fields("b")), { manager: "kubectl", ...fields("a") }]);
    expect(movedMarks(before, marksOf(byUser))).toEqual([]);
    expect(movedMarks(before, marksOf(object([mark(UID, fields("b")), mark(OTHER, fields("a"))])))).toEqual([OTHER]);
  });

  it("a mark moves when its write is rolled back within the same second", () => {
    const restored = { fieldsV1: { "f:metadata": { "f:annotations": { "f:backup.janus.io/restored-by": {} } } } };
    expect(movedMarks(marksOf(object([mark(UID)])), marksOf(object([mark(UID, restored)])))).toEqual([UID]);
  });

  it("of a rollback its own mark has moved, and those have not that it gives back", () => {
    const rolledBack = marksOf(object([mark(UID, { time: "2026-01-01T00:00:01Z" }), mark(OTHER)]));
    expect(movedMarks(marksOf(object([mark(UID)])), rolledBack)).toEqual([UID]);
  });

  it("an Apply marks, too", () => {
    expect([
      ...marksOf(object([{ manager: applyManager({ name: "deploy", uid: UID }), operation: "Apply" }])).keys(),
    ]).toEqual([UID]);
  });

  it.each<readonly [string, readonly JsonObject[], string | undefined]>([
    ["the newest", [{ manager: "a", time: "2026-01-01T00:00:00Z" }, mark(UID, { time: "2026-01-01T00:00:01Z" })], UID],
    ["not the newest", [{ manager: "a", time: "2026-01-01T00:00:01Z" }, mark()], undefined],
    ["as new as another", [{ manager: "a", time: "2026-01-01T00:00:00Z" }, mark()], undefined],
    ["older than a status", [{ manager: "a", subresource: "status", time: "2026-01-01T00:00:09Z" }, mark()], UID],
    ["none", [], undefined],
  ])("%s", (_, entries, expected) => {
    expect(newestMark(object(entries))).toBe(expected);
  });
});

describe("signs", () => {
  const [changed, deleted] = journaled("Committed").targets;
  it("a mark shows a change, and the end of an object its deletion, also the beginning of the end", () => {
    const shows = (target: typeof changed, live: KubeObject | undefined): boolean | undefined =>
      target && showsChange(journaled("Committed"), target, live);
    expect([
      shows(changed, object([mark()])),
      shows(changed, object([mark(OTHER)])),
      shows(changed, undefined),
    ]).toEqual([true, false, false]);
    expect([
      shows(deleted, undefined),
      shows(deleted, object([], { uid: "new" })),
      shows(deleted, object([], { uid: "old" })),
      shows(deleted, object([], { uid: "old", deletionTimestamp: "x" })),
    ]).toEqual([true, true, false, true]);
  });

  it("a deletion is that of the Transaction that has recorded this uid", () => {
    expect(deletedBy([journaled("Committing")], path("b"), "old")).toBe(UID);
    expect(deletedBy([journaled("Committing")], path("b"), "other")).toBeUndefined();
    expect(deletedBy([journaled("Committing")], path("a"), "old")).toBeUndefined();
    expect(deletedBy([journaled("Pending")], path("b"), "old")).toBeUndefined();
    const created = (phase: Phase): JournaledTransaction =>
      journaled(phase, [{}, {}, { prepared: true, committed: true, created: "new" }]);
    expect(deletedBy([created("RollingBack")], path("c"), "new")).toBe(UID);
    expect(deletedBy([created("Committed")], path("c"), "new")).toBeUndefined();
    expect(deletedBy([created("RollingBack")], path("c"), "other")).toBeUndefined();
  });
});

const file = (name: string, isLive = true) => ({
  path: path(name),
  tip: undefined,
  live: isLive ? { fingerprint: "1", bytes: 1 } : undefined,
  operations: ALL,
});

describe("after a restart", () => {
  const END = Date.parse("2026-01-01T00:00:10Z");
  const resumedOf = (
    phase: Phase,
    files: readonly ReturnType<typeof file>[],
    newest: string | undefined,
    tipDate = END - 1,
  ) => resumed(files, [journaled(phase)], { newest: () => newest, tipDate }).map(({ path, by }) => [path, by]);
  const OWN = { type: "transaction", uid: UID };

  it("what a Transaction has changed last is its own, of the files that differ", () => {
    expect(resumedOf("Committed", [file("a"), file("x")], UID)).toEqual([[path("a"), OWN]]);
    expect(resumedOf("Committed", [file("a")], OTHER)).toEqual([]);
    expect(resumedOf("Committed", [], UID)).toEqual([]);
    expect(resumedOf("Committing", [file("a")], UID)).toEqual([]);
  });

  it("what it has deleted, if that was after the last commit", () => {
    expect(resumedOf("Committed", [file("b", false)], undefined)).toEqual([[path("b"), OWN]]);
    expect(resumedOf("Committed", [file("b", false)], undefined, END)).toEqual([]);
    expect(resumedOf("RolledBack", [file("b", false)], undefined)).toEqual([]);
    expect(resumedOf("Committed", [file("a", false)], undefined)).toEqual([]);
  });
});
