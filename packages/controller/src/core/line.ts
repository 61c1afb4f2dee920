import type { Transaction } from "@janus/api";
import { type Instant, toTimestamp } from "./instant.ts";
import { type Known, set } from "./known.ts";
import type { Place } from "./object.ts";

/** A lock that a Transaction waits for, and for which of its changes. */
export interface Awaited {
  readonly index: number;
  readonly lease: Place;
}

/** What has touched targets may keep others waiting for as long as it has to wait itself. */
const rank = ({ status: { phase } }: Transaction): number =>
  phase === "RollingBack" ? 0 : phase === "Committing" ? 1 : 2;

/** A Transaction in line. `behind`: since when, if it has let others go first. */
export interface Waiter extends Transaction {
  readonly behind?: Instant;
}

/** Sorts as text: timestamps are all of the same form. */
const turn = (txn: Waiter): string =>
  `${rank(txn)} ${txn.behind === undefined ? (txn.status.startedAt ?? "") : toTimestamp(txn.behind)} ${txn.metadata.uid}`;

/**
 * Of two Transactions that wait for the same lock: first who has touched targets, then who began earlier, or was the earlier
 * one to let others go first. A total order.
 */
export const goesBefore = (a: Waiter, b: Waiter): boolean => turn(a) < turn(b);

/** Nobody holds the Lease any more that is waited for: it can be taken without another look. */
export const freed = (known: Known, { index }: Awaited): Known =>
  known.locks.get(index)?.at === "theirs" ? { ...known, locks: set(known.locks, index, { at: "free" }) } : known;
