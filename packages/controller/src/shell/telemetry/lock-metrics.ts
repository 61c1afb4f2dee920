import type { Transaction } from "@janus/api";
import { lruCache } from "@janus/kube";
import { Histogram, type Registry } from "prom-client";
import type { Effect } from "../../core/index.ts";
import { elapsed } from "../process/clock.ts";

export interface LockWait {
  readonly answered: (txn: Transaction, effect: Effect) => void;
  readonly moved: (to: Transaction) => void;
}

/**
 * From a Transaction's first attempt at a lock until it first reads a target, for which it holds all locks; or until it has
 * given up.
 */
export const lockWait = (registry: Registry): LockWait => {
  // Nothing more is observed of one that is deleted while it waits.
  const since = lruCache<string, number>(10_000);
  const wait = new Histogram({
    name: "janus_lock_wait_seconds",
    help: "Time that Transactions waited until they held the locks on all of their targets, or had to give up.",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800],
    registers: [registry],
  });
  const end = (uid: string): void => {
    const began = since.get(uid);
    if (began === undefined) return;
    since.delete(uid);
    wait.observe((elapsed() - began) / 1000);
  };
  return {
    answered: ({ metadata: { uid }, status }, { purpose }) => {
      if (purpose === "lock" && status.phase === "Preparing" && since.get(uid) === undefined) since.set(uid, elapsed());
      if (purpose === "read-target") end(uid);
    },
    moved: ({ metadata: { uid } }) => end(uid),
  };
};
