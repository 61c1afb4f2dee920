import type { Transaction } from "@janus/api";
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

/** Sorts as text: timestamps are all of the same form. */
const turn = (txn: Transaction): string => `${rank(txn)} ${txn.status.startedAt ?? ""} ${txn.metadata.uid}`;

/** Of two Transactions that wait for the same lock: first who has touched targets, then who began earlier. A total order. */
export const goesBefore = (a: Transaction, b: Transaction): boolean => turn(a) < turn(b);

/** Nobody holds the Lease any more that is waited for: it can be taken without another look. */
export const freed = (known: Known, { index }: Awaited): Known =>
  known.locks.get(index)?.at === "theirs" ? { ...known, locks: set(known.locks, index, { at: "free" }) } : known;
