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

const items = (...states: readonly Item["state"][]): readonly Item[] => states.map((state) => ({ state }));
const BEFORE = { existed: false } as const;
const three = (phase: Transaction["status"]["phase"], states: readonly Item["state"][], said: string): Transaction => {
  const changes = ["a", "b", "c"].map((name) => ({
    type: "Delete" as const,
    target: { apiVersion: "v1", kind: "ConfigMap", name },
  }));
  const txn = transaction(changes);
  const ready = { type: "Ready", status: "False", reason: "", message: said, lastTransitionTime: "" } as const;
  return {
    ...txn,
    status: { ...txn.status, phase, startedAt: "2026-01-01T00:00:00Z", items: items(...states), conditions: [ready] },
  };
};

it("names the change that has failed, not one of which the rollback has a warning", () => {
  const txn = three(
    "RolledBack",
    [
      { type: "restored", before: BEFORE, error: "a Pod was deleted with it" },
      { type: "rejected", before: BEFORE, error: "refused" },
      { type: "prepared", before: BEFORE },
    ],
    "rolled back",
  );
  expect(explanation(txn, { locks: new Map(), now: 0 }).where).toMatch(
    /^change 2, Delete ConfigMap shop\/b: refused$/u,
  );
});

it("names the lock that the controller waits for, and none of what is rolled back already", () => {
  const holder = "Transaction shop/other";
  const locks = new Map(["a", "b", "c"].map((name, index) => [index, { lease: `shop/lock-${name}`, holder }] as const));
  const prepared = { type: "prepared", before: BEFORE } as const;
  const waiting = three("Preparing", [prepared, prepared, prepared], "waiting (Lease shop/lock-c)");
  expect(explanation(waiting, { locks, now: 0 }).where).toContain("change 3, Delete ConfigMap shop/c");
  const committed = { type: "committed", before: BEFORE } as const;
  const back = three("RollingBack", [{ type: "restored", before: BEFORE }, committed, committed], "attempt 1");
  expect(explanation(back, { locks, now: 0 }).where).toContain("change 2, Delete ConfigMap shop/b");
});

it("says of a rollback that is incomplete how to go on, and how to end it", () => {
  const failed = { type: "rollback-failed", before: BEFORE, error: "left unchanged" } as const;
  const txn = three("Failed", [failed, failed, failed], "rollback incomplete");
  const incomplete = { type: "RolledBack", status: "False", reason: "RollbackIncomplete", message: "" } as const;
  const conditions = [...txn.status.conditions, { ...incomplete, lastTransitionTime: "" }];
  const { next } = explanation({ ...txn, status: { ...txn.status, conditions } }, { locks: new Map(), now: 0 });
  for (const command of ["kubectl janus retry deploy-v2 -n shop", "kubectl delete transaction deploy-v2 -n shop"])
    expect(next).toContain(command);
});
