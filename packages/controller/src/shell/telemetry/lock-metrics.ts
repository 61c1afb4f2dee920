// Measures lock operations and the time that Transactions wait for locks.
import type { Transaction } from "@janus/api";
import { lruCache } from "@janus/kube";
import { Counter, Histogram, type Registry } from "prom-client";
import type { Effect } from "../../core/index.ts";
import { elapsed } from "@janus/runtime/parts";

export interface LockMetrics {
  readonly answered: (txn: Transaction, effect: Effect, result: string) => void;
  readonly moved: (to: Transaction) => void;
}

const OPERATIONS: Partial<Record<Effect["purpose"], string>> = {
  lock: "acquire",
  "renew-lock": "renew",
  "release-lock": "release",
};

/**
 * Writes of locks, and how long Transactions wait for them: from the first attempt at a lock until the first read of a target, for
 * which all locks are held; or until the Transaction has given up.
 */
export const lockMetrics = (registry: Registry): LockMetrics => {
  // Nothing more is observed of one that is deleted while it waits.
  const since = lruCache<string, number>(10_000);
  const wait = new Histogram({
    name: "janus_lock_wait_seconds",
    help: "Time that Transactions waited until they held the locks on all of their targets, or had to give up.",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800],
    registers: [registry],
  });
  const operations = new Counter({
    name: "janus_lock_operations_total",
    help: "Acquisitions, renewals and releases of locks.",
    labelNames: ["operation", "result"],
    registers: [registry],
  });
  const end = (uid: string): void => {
    const began = since.get(uid);
    if (began === undefined) return;
    since.delete(uid);
    wait.observe((elapsed() - began) / 1000);
  };
  return {
    answered: ({ metadata: { uid }, status }, { purpose }, result) => {
      const operation = OPERATIONS[purpose];
      if (operation !== undefined) operations.inc({ operation, result });
      if (purpose === "lock" && status.phase === "Preparing" && since.get(uid) === undefined) since.set(uid, elapsed());
      if (purpose === "read-target") end(uid);
    },
    moved: ({ metadata: { uid } }) => end(uid),
  };
};
