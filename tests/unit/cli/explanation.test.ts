import type { Item, Transaction } from "@janus/api";
import { expect, it } from "vitest";
import { explanation } from "../../../packages/cli/src/story/explanation.ts";
import { transaction } from "../core/transaction.ts";

const lease = "shop/janus-lock-a";
const next = (holder: string): string => {
  const waiting = transaction([{ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "a" } }]);
  return explanation(waiting, { locks: new Map([[0, { lease, holder }]]), now: 0 }).next;
};

it("names the Transaction that holds a lock in the command to be pasted", () => {
  expect(next("Transaction shop/deploy-v2.1")).toBe("kubectl janus explain deploy-v2.1 -n shop");
});

it.each(["shop/a;reboot", "shop/$(reboot)", "shop;reboot;/a", "shop/-fa"])(
  "pastes nothing that the shell would run out of a Lease that was written by hand: %s",
  (holder) => {
    expect(next(`Transaction ${holder}`)).toBe("kubectl describe lease -n shop janus-lock-a");
  },
);

it("counts no change as rolled back that the API server has refused", () => {
  const changes = ["a", "b", "c"].map((name) => ({
    type: "Delete" as const,
    target: { apiVersion: "v1", kind: "ConfigMap", name },
  }));
  const before = { existed: false } as const;
  const items: Item[] = [
    { state: { type: "committed", before } },
    { state: { type: "restored", before } },
    { state: { type: "rejected", before, error: "forbidden" } },
  ];
  const txn = transaction(changes);
  const stopped: Transaction = { ...txn, status: { ...txn.status, phase: "RollingBack", items } };
  expect(explanation(stopped, { locks: new Map(), now: 0 }).state).toBe("1 of 3 changes are applied, 1 is rolled back");
});

it.each(["forbidden", "a long reason, of which the item says only this much, …"])(
  "says once why it failed: %s",
  (error) => {
    const txn = transaction([{ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "a" } }]);
    const said = error.replace("…", "and the condition all of it");
    const condition = {
      type: "Committed",
      status: "False",
      reason: "CommitFailed",
      message: `refused: ${said}`,
    } as const;
    const rolledBack = {
      ...txn,
      status: {
        ...txn.status,
        phase: "RolledBack",
        items: [{ state: { type: "rejected", before: { existed: false }, error } }],
        conditions: [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }],
      },
    } as unknown as Transaction;
    const { why, where } = explanation(rolledBack, { locks: new Map(), now: 0 });
    expect([why, where]).toEqual([`refused: ${said}`, "change 1, Delete ConfigMap shop/a"]);
  },
);
