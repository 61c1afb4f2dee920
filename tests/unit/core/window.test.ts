import type { Change, Item } from "@janus/api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { advanced, type Journal, noJournal } from "../../../packages/controller/src/core/state/journal.ts";
import { intentAt, lastToRecede } from "../../../packages/controller/src/core/state/window.ts";
import { transaction } from "./transaction.ts";

const named = (
  kind: string,
  apiVersion: string,
  type: "Create" | "Patch" | "Update" | "Replace",
  name: string,
): Change => ({
  type,
  target: { apiVersion, kind, name },
  content: { data: { a: "b" } },
});
const patch = (name: string): Change => named("ConfigMap", "v1", "Patch", name);
const removal = (name: string): Change => ({ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name } });
const gated = (name: string): Change => Object.assign(patch(name), { waitFor: ["jsonpath={.data.a}=b"] });

/** The lengths of the windows of these changes, one after the other. */
const windows = (changes: readonly Change[], late: readonly number[] = []): readonly number[] => {
  const txn = transaction(changes);
  const lengths: number[] = [];
  for (let cursor = 0; cursor < changes.length; ) {
    const { until = cursor + 1 } = intentAt(txn, cursor, new Set(late));
    lengths.push(until - cursor);
    cursor = until;
  }
  return lengths;
};

describe("a window of changes, which one intent covers", () => {
  it.each<[string, readonly Change[], readonly number[]]>([
    ["has all Patches, Updates and Creates that follow one another", ["a", "b", "c"].map(patch), [3]],
    ["begins anew at each Delete", [patch("a"), removal("b"), removal("c"), patch("d")], [1, 1, 2]],
    [
      "is of a Replace alone, which is two writes",
      [patch("a"), named("ConfigMap", "v1", "Replace", "b"), patch("c")],
      [1, 1, 1],
    ],
    ["ends with a change that has gates", [patch("a"), gated("b"), patch("c")], [2, 1]],
    [
      "is of a change alone after which others may be readable no longer",
      [patch("a"), named("RoleBinding", "rbac.authorization.k8s.io/v1", "Patch", "b"), patch("c"), patch("d")],
      [1, 1, 2],
    ],
    [
      "is of a change alone after which the API server may answer otherwise",
      [patch("a"), named("MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1", "Create", "b"), patch("c")],
      [1, 1, 1],
    ],
    ["is no longer than 16 changes", Array.from({ length: 40 }, (_, n) => patch(`p-${n}`)), [16, 16, 8]],
  ])("%s", (_, changes, lengths) => {
    expect(windows(changes)).toEqual(lengths);
  });

  it("begins anew at a change whose lock is taken in its turn", () => {
    expect(windows(["a", "b", "c"].map(patch), [1])).toEqual([1, 2]);
  });
});

describe("what was answered of a window", () => {
  const journal: Journal = noJournal({ direction: "forward", cursor: 2, until: 6 });

  it("counts up to the first change that was not, and leaves the last one of the window to be recorded", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), (answered) => {
        const now = advanced(journal, (index) => (answered[index - 2] === true ? `uid-${index}` : undefined));
        const made = [...answered.slice(0, 3), false].indexOf(false);
        expect(now.position).toEqual({ direction: "forward", cursor: 2 + made, until: 6 });
        expect([...now.created.keys()]).toEqual([2, 3, 4].slice(0, made));
        expect(now.ahead?.from ?? 2).toBe(2);
        expect(now.ahead?.created.size ?? 0).toBe(made);
      }),
    );
  });
});

describe("the window of a rollback", () => {
  const before = { existed: false } as const;
  const committed: Item = { state: { type: "committed", before } };
  const settled: readonly Item[] = [
    { state: { type: "restored", before } },
    { state: { type: "rollback-failed", before, error: "left there on purpose" } },
  ];

  it("ends before what a former rollback has settled, which a retry does not look at again", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(committed, ...settled), { minLength: 1, maxLength: 20 }), (items) => {
        const txn = transaction([...items, committed].map((_, n) => patch(`c${n}`)));
        const cursor = items.length;
        const retried = { ...txn, status: { ...txn.status, items: [...items, committed] } };
        const journal = noJournal({ direction: "back", cursor, reached: cursor + 1, since: 0 });
        const nearest = items.findLastIndex((item) => settled.includes(item));
        expect(lastToRecede(retried, journal)).toBe(Math.max(nearest + 1, cursor - 15));
      }),
    );
  });
});
