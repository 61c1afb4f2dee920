import { describe, expect, it } from "vitest";
import { noObservations, restingBytes } from "../../../packages/controller/src/core/index.ts";
import type { Memory } from "../../../packages/controller/src/core/observe.ts";
import { resting } from "../../../packages/controller/src/core/controller.ts";
import { type TrackedObject, trackedObjects } from "../../../packages/runtime/src/reconcile/tracked-objects.ts";
import { transaction } from "../core/transaction.ts";
import { change } from "../core/underway.ts";

const tracked = (namespace: string, name: string, changes = 100): TrackedObject<Memory> => {
  const txn = transaction(Array.from({ length: changes }, (_, n) => change("Delete", `target-${n}`)));
  const uid = `${namespace}-${name}`;
  return {
    uid,
    key: `${namespace}/${name}`,
    namespace,
    memory: {
      txn: { ...txn, metadata: { ...txn.metadata, namespace, name, uid } },
      known: noObservations(0),
    },
    now: () => 0,
    isOutline: false,
    isGone: false,
  };
};

const ONE = restingBytes(tracked("a", "0").memory);

const trackedTransactions = (onForget: (uid: string) => void, most: number) => trackedObjects(resting, onForget, most);

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `${n}`);

describe("Transactions at rest", () => {
  it("take a bounded amount of memory, however many there are", () => {
    const forgotten: string[] = [];
    const all = trackedTransactions((uid) => forgotten.push(uid), 10 * ONE);
    const made = names(500).map((name) => tracked("a", name));
    for (const one of made) {
      all.work(one);
      all.rest(one);
      expect(all.all().reduce((sum, other) => sum + restingBytes(other.memory), 0)).toBeLessThanOrEqual(10 * ONE);
    }
    expect(forgotten).toContain("a-0");
    expect(all.of("a-0")).toBeUndefined();
    expect(all.under("a/0")).toEqual([]);
    expect(all.of("a-499")).toMatchObject({ key: "a/499" });
  });

  it("become an outline when they have been at rest for longest, and are whole again when they were read", () => {
    const all = trackedTransactions(() => {}, 3.5 * ONE);
    const made = names(4).map((name) => tracked("a", name));
    for (const one of made) {
      all.work(one);
      all.rest(one);
    }
    expect(made.map(({ isOutline }) => isOutline)).toEqual([true, false, false, false]);
    const again = tracked("a", "0");
    all.work(again);
    expect(all.under("a/0")).toEqual([again]);
    expect(again.isOutline).toBe(false);
    all.rest(again);
    expect(made.map(({ isOutline }) => isOutline)).toEqual([true, true, false, false]);
  });

  it("are dropped of the namespace that takes most: one with many costs no other one its own", () => {
    const all = trackedTransactions(() => {}, 5 * ONE);
    const quiet = tracked("quiet", "0");
    all.work(quiet);
    all.rest(quiet);
    for (const name of names(200)) {
      const one = tracked("many", name);
      all.work(one);
      all.rest(one);
    }
    expect(all.of("quiet-0")?.isOutline).toBe(false);
  });

  it("are never dropped while they are reconciled, nor reduced to an outline if they are gone", () => {
    const forgotten: string[] = [];
    const all = trackedTransactions((uid) => forgotten.push(uid), 0);
    const [working, gone] = [tracked("a", "0"), { ...tracked("a", "1"), isGone: true }];
    all.work(working);
    expect(forgotten).toEqual([]);
    all.work(gone);
    all.rest(gone);
    expect(forgotten).toEqual(["a-1"]);
    expect(all.all()).toEqual([working]);
  });
});
