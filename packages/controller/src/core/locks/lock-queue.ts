// Orders the Transactions that wait for the same lock.
import type { Transaction } from "@janus/api";
import { toTimestamp } from "@janus/types";
import { changeIn, type Observations, withChange } from "../state/observations.ts";
import type { Awaited } from "../state/effect.ts";
import type { QueuedTransaction } from "../state/reconcile-context.ts";

/** A Transaction that has applied changes may keep others waiting for as long as it has to wait itself. */
const rank = ({ status: { phase } }: QueuedTransaction): number =>
  phase === "RollingBack" ? 0 : phase === "Committing" ? 1 : 2;

export const queued = ({ metadata, status }: Transaction, { yieldedAt }: Observations): QueuedTransaction => ({
  metadata: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
  status: { phase: status.phase, ...(status.startedAt === undefined ? {} : { startedAt: status.startedAt }) },
  ...(yieldedAt === undefined ? {} : { behind: yieldedAt }),
});

/** Sorts as text: timestamps are all of the same form. */
const queuePosition = (txn: QueuedTransaction): string =>
  `${rank(txn)} ${txn.behind === undefined ? (txn.status.startedAt ?? "") : toTimestamp(txn.behind)} ${txn.metadata.uid}`;

/**
 * Orders two Transactions that wait for the same lock: first the one that has applied changes, then the one that began earlier,
 * or yielded earlier. A total order.
 */
export const hasPriorityOver = (a: QueuedTransaction, b: QueuedTransaction): boolean =>
  queuePosition(a) < queuePosition(b);

/** The Lease is free: it can be acquired without reading it again. */
export const withFreedLock = (known: Observations, { index }: Awaited): Observations =>
  changeIn(known, index).lock?.type === "theirs" ? withChange(known, index, { lock: { type: "free" } }) : known;
