// Tests that a Transaction that is rolled back makes no commit, in whatever way it gives back the marks of those before it.
import { decodeTransaction, fieldManager, type Phase, type Transaction } from "@janus/api";
import type { JsonObject, KubeObject, ManagedFieldsEntry } from "@janus/types";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type BranchWorld,
  configMap,
  fileOf,
  fold,
  gone,
  later,
  listed,
  newWorld,
  seen,
  transaction,
  work,
} from "./branch-world.ts";
import { right } from "./right.ts";

const subjects = ({ commits }: BranchWorld): readonly string[] =>
  commits.map(({ author, message }) => `${author.name}: ${message.split("\n")[0]}`);

const uidOf = (n: number): string => `${String(n).repeat(8)}-2222-3333-4444-555555555555`;
const APPLIED = { prepared: true, committed: true, uid: "uid-a", resourceVersion: "1" };
const ITEMS: Readonly<Partial<Record<Phase, JsonObject>>> = {
  Preparing: {},
  Committing: APPLIED,
  Committed: APPLIED,
  RollingBack: APPLIED,
  RolledBack: { ...APPLIED, rolledBack: true },
};
const A = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
const changing = (n: number, phase: Phase, change: JsonObject, item: JsonObject): Transaction =>
  right(
    decodeTransaction({
      metadata: { name: `t${n}`, namespace: "shop", uid: uidOf(n), resourceVersion: "1", generation: 1 },
      spec: { serviceAccountName: "sa", changes: [{ ...change, target: A }] },
      status: { phase, items: [item], requestedBy: "alice", completedAt: "2026-01-01T00:00:21Z" },
    }),
  );
const nth = (n: number, phase: Phase): Transaction =>
  changing(n, phase, { type: "Patch", content: { data: { value: "2" } } }, ITEMS[phase] ?? {});
const creating = (n: number, phase: Phase, item: JsonObject): Transaction =>
  changing(n, phase, { type: "Create", content: {} }, item);
const deleting = (n: number, phase: Phase, item: JsonObject): Transaction =>
  changing(n, phase, { type: "Delete" }, item);
const entry = (n: number, time: number): JsonObject => ({
  manager: fieldManager({ name: `t${n}`, uid: uidOf(n) }),
  time: new Date(time * 1_000).toISOString(),
});
const written = (value: string, managedFields: readonly JsonObject[]): KubeObject =>
  configMap("a", value, { managedFields });
const read = (world: BranchWorld, object: KubeObject): void => {
  for (const uid of world.state.transactions.keys())
    fold(world, { type: "targetRead", uid, file: fileOf(world, object) });
};
const commitOf = (n: number): string => `alice: Transaction shop/t${n}: Committed, 1 change`;

/** An object with the mark of a Transaction of which nothing is known any more. */
const MARKED_BEFORE = written("0", [entry(9, 0)]);
const before = (): BranchWorld => {
  const world = newWorld();
  listed(world, [MARKED_BEFORE]);
  work(world);
  return world;
};

describe("a Transaction that is rolled back while others of the same object wait", () => {
  it("makes no commit, whoever else has changed the object, or is rolled back, too", () => {
    // Undo: the last one that is not rolled back is.
    const events = fc.array(fc.constantFrom("apply", "undo"), { minLength: 1, maxLength: 8 });
    /** Whether the mark of a rollback is there, too, when it gives back the one before. */
    const areMarkedTwice = fc.boolean();
    fc.assert(
      fc.property(events, areMarkedTwice, (all, isMarkedTwice) => {
        const world = before();
        const undone: { readonly n: number; readonly to: KubeObject }[] = [];
        let object = MARKED_BEFORE;
        all.forEach((_, at) => transaction(world, nth(at + 1, "Preparing")));
        all.forEach((event, at) => {
          if (event === "apply") {
            const n = at + 1;
            undone.push({ n, to: object });
            transaction(world, nth(n, "Committing"));
            object = written(String(n), [entry(n, 2 * n)]);
            seen(world, object);
            transaction(world, nth(n, "Committed"));
            return;
          }
          const last = undone.pop();
          if (last === undefined) return;
          const { n, to } = last;
          transaction(world, nth(n, "RollingBack"));
          const { managedFields = [] } = to.metadata;
          const own = isMarkedTwice ? [entry(n, 100 + at)] : [];
          seen(world, {
            ...to,
            metadata: { ...to.metadata, managedFields: [...managedFields, ...own] as ManagedFieldsEntry[] },
          });
          seen(world, to);
          object = to;
          transaction(world, nth(n, "RolledBack"));
        });
        all.forEach((event, at) => {
          if (event !== "apply") fold(world, { type: "transactionGone", uid: uidOf(at + 1) });
        });
        for (let n = 0; n < 5; n += 1) {
          later(world, 3_000);
          read(world, object);
          work(world);
        }
        expect(subjects(world).slice(1)).toEqual(undone.map(({ n }) => commitOf(n)));
      }),
    );
  });

  it("within its window is the author of what it gives back, and not who waits, nor who has changed it since", () => {
    const world = before();
    transaction(world, nth(1, "Committing"));
    seen(world, written("1", [entry(1, 2)]));
    transaction(world, nth(1, "Committed"));
    later(world);
    work(world);
    transaction(world, nth(2, "Committing"));
    seen(world, written("2", [entry(2, 4)]));
    transaction(world, nth(2, "Committed"));
    transaction(world, nth(3, "Preparing"));
    transaction(world, nth(1, "RollingBack"));
    const restored = written("3", [entry(9, 0)]);
    seen(world, restored);
    transaction(world, nth(1, "RolledBack"));
    transaction(world, nth(3, "Committed"));
    later(world, 3_000);
    read(world, restored);
    later(world);
    work(world);
    expect(subjects(world).slice(2)).toEqual([commitOf(2), "alice: Transaction shop/t1: RolledBack, 1 change"]);
  });

  it("makes no commit of an object that it has created, and another one creates after it", () => {
    const world = newWorld();
    listed(world, []);
    work(world);
    const created = { prepared: true, committed: true, created: "uid-a" };
    transaction(world, creating(2, "Preparing", {}));
    transaction(world, creating(1, "Committing", created));
    seen(world, written("1", [entry(1, 2)]));
    transaction(world, creating(1, "RollingBack", created));
    gone(world, "a", { type: "user", name: "system:serviceaccount:shop:sa" });
    transaction(world, creating(1, "RolledBack", { ...created, rolledBack: true }));
    transaction(world, creating(2, "Committing", { ...created, created: "uid-b" }));
    const last = configMap("a", "2", { uid: "uid-b", managedFields: [entry(2, 4)] });
    seen(world, last);
    transaction(world, creating(2, "Committed", { ...created, created: "uid-b" }));
    later(world, 3_000);
    read(world, last);
    later(world);
    work(world);
    expect(subjects(world)).toEqual([commitOf(2)]);
  });

  it("makes no commit of an object that it has deleted, and created again with all the marks that it had", () => {
    const world = before();
    transaction(world, nth(2, "Preparing"));
    transaction(world, deleting(1, "Committing", APPLIED));
    gone(world, "a");
    transaction(world, deleting(1, "RollingBack", APPLIED));
    seen(world, configMap("a", "0", { uid: "uid-b", managedFields: [entry(9, 0), entry(1, 2)] }), {
      type: "user",
      name: "system:serviceaccount:shop:sa",
    });
    transaction(world, deleting(1, "RolledBack", { ...APPLIED, rolledBack: true }));
    transaction(world, nth(2, "Committing"));
    const last = configMap("a", "2", { uid: "uid-b", managedFields: [entry(2, 4)] });
    seen(world, last);
    transaction(world, nth(2, "Committed"));
    later(world, 3_000);
    read(world, last);
    later(world);
    work(world);
    expect(subjects(world).slice(1)).toEqual([commitOf(2)]);
  });
});
