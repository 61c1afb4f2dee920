import type { Condition, ItemState, Transaction } from "@janus/api";
import { expect, it } from "vitest";
import { painter } from "../../../packages/cli/src/output/style.ts";
import { headline, progressNews } from "../../../packages/cli/src/progress/progress-text.ts";
import { transaction } from "../core/transaction.ts";

const paint = painter({ hasColour: false });
const at = (seconds: number): string => new Date(seconds * 1000).toISOString();

const status = (phase: Transaction["status"]["phase"], committed: Condition["status"], since: number, end?: number) => {
  const txn = transaction([{ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "a" } }]);
  const condition = { type: "Committed", status: committed, reason: "", message: "", lastTransitionTime: at(since) };
  const finished = end === undefined ? {} : { completedAt: at(end) };
  return { ...txn, status: { ...txn.status, phase, startedAt: at(1000), ...finished, conditions: [condition] } };
};

it.each([
  ["one that is active, from its start", status("Committing", "False", 999), undefined, "for 1m40s"],
  [
    "one that was rolled back after a failure, from its start",
    status("RolledBack", "False", 999, 1060),
    undefined,
    "after 1m",
  ],
  ["one that is committed, from its start", status("Committed", "True", 1060, 1060), undefined, "after 1m"],
  ["the rollback of one that was Committed", status("RollingBack", "False", 1090, 1060), undefined, "for 10s"],
  ["such a rollback that has finished", status("RolledBack", "False", 1090, 1095), undefined, "after 5s"],
  [
    "the rollback that a command has requested, by the clock of that",
    status("RolledBack", "False", 999, 5000),
    1093,
    "after 7s",
  ],
])("counts the time of %s", (_, txn, since, took) => {
  expect(headline(txn, since === undefined ? undefined : since * 1000, 1_100_000, paint)).toMatch(
    new RegExp(`, ${took}$`, "u"),
  );
});

const BEFORE = { existed: false } as const;
const STATES = {
  pending: { type: "prepared", before: BEFORE },
  applied: { type: "committed", before: BEFORE },
  failed: { type: "rejected", before: BEFORE, error: "denied" },
  restored: { type: "restored", before: BEFORE },
} as const satisfies Record<string, ItemState>;

type Phase = Transaction["status"]["phase"];

const seen = (phase: Phase, ...states: readonly (keyof typeof STATES)[]): Transaction => {
  const names = ["a", "b", "c"].slice(0, states.length);
  const txn = transaction(
    names.map((name) => ({ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name } })),
  );
  const ready = { type: "Ready", status: "False", reason: "", message: "…", lastTransitionTime: at(0) } as const;
  const items = states.map((state) => ({ state: STATES[state] }));
  return { ...txn, status: { ...txn.status, phase, items, conditions: [ready] } };
};

const prepared = seen("Prepared", "pending", "pending", "pending");

it.each<readonly [what: string, former: Transaction, now: Transaction, words: readonly string[]]>([
  [
    "what is begun after the phase in which it is",
    prepared,
    seen("Committing", "pending", "pending", "pending"),
    ["Committing", "1/3 applying"],
  ],
  [
    "what was done meanwhile, too",
    prepared,
    seen("Committing", "applied", "pending", "pending"),
    ["Committing", "1/3 applied", "2/3 applying"],
  ],
  [
    "what was done before the end",
    seen("Committing", "applied", "pending", "pending"),
    seen("Committed", "applied", "applied", "applied"),
    ["2/3 applied", "3/3 applied", "Committed"],
  ],
  [
    "what failed before the rollback, and what is rolled back after it, the last first",
    seen("Committing", "pending", "pending", "pending"),
    seen("RollingBack", "restored", "restored", "failed"),
    ["3/3 not applied", "RollingBack", "2/3 rolled back", "1/3 rolled back"],
  ],
  [
    "what was rolled back before the end",
    seen("Committing", "applied", "applied", "pending"),
    seen("RolledBack", "restored", "restored", "failed"),
    ["3/3 not applied", "2/3 rolled back", "1/3 rolled back", "RolledBack"],
  ],
])("says for a log %s", (_, former, now, words) => {
  expect(progressNews(former, now).map((line) => line.split(":")[0]?.trim())).toEqual(words);
});

it("does not tell of what is rolled back once more that it is applied", () => {
  const error = "refused";
  const items = [{ state: { type: "rollback-failed", before: BEFORE, error } }] as const;
  const applied = seen("RollingBack", "applied");
  const failed = { ...applied, status: { ...applied.status, phase: "Failed" as const, items } };
  expect(progressNews(failed, applied)).toEqual([expect.stringMatching(/^RollingBack/u)]);
  expect(progressNews(undefined, applied).join("\n")).toContain("1/1 applied");
});
