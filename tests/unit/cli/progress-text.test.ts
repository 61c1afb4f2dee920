import type { Condition, Transaction } from "@janus/api";
import { expect, it } from "vitest";
import { painter } from "../../../packages/cli/src/output/style.ts";
import { headline } from "../../../packages/cli/src/progress/progress-text.ts";
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
