import type { Transaction } from "@janus/api";
import { type Instant, toTimestamp } from "../kubernetes/time.ts";
import { changeIn, type Observations, withChange } from "../state/observations.ts";
import type { Awaited } from "../state/effect.ts";

/** What has touched targets may keep others waiting for as long as it has to wait itself. */
const rank = ({ status: { phase } }: Transaction): number =>
  phase === "RollingBack" ? 0 : phase === "Committing" ? 1 : 2;

/** A Transaction in line. `behind`: since when, if it has let others go first. */
export interface QueuedTransaction extends Transaction {
  readonly behind?: Instant;
}

/** Sorts as text: timestamps are all of the same form. */
const queuePosition = (txn: QueuedTransaction): string =>
  `${rank(txn)} ${txn.behind === undefined ? (txn.status.startedAt ?? "") : toTimestamp(txn.behind)} ${txn.metadata.uid}`;

/**
 * Of two Transactions that wait for the same lock: first who has touched targets, then who began earlier, or was the earlier
 * one to let others go first. A total order.
 */
export const hasPriorityOver = (a: QueuedTransaction, b: QueuedTransaction): boolean =>
  queuePosition(a) < queuePosition(b);

/** Nobody holds the Lease any more that is waited for: it can be taken without another look. */
export const withFreedLock = (known: Observations, { index }: Awaited): Observations =>
  changeIn(known, index).lock?.type === "theirs" ? withChange(known, index, { lock: { type: "free" } }) : known;
