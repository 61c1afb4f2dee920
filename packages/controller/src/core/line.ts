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

/** Of two Transactions that wait for the same lock: first who has touched targets, then who began earlier. A total order. */
export const goesBefore = (a: Transaction, b: Transaction): boolean => {
  const keys = (txn: Transaction) => [`${rank(txn)}`, txn.status.startedAt ?? "", txn.metadata.uid];
  const [one, other] = [keys(a), keys(b)];
  const at = one.findIndex((key, index) => key !== other[index]);
  return at !== -1 && (one[at] ?? "") < (other[at] ?? "");
};

/** Nobody holds the Lease any more that is waited for: it can be taken without another look. */
export const freed = (known: Known, { index }: Awaited): Known =>
  known.locks.get(index)?.at === "theirs" ? { ...known, locks: set(known.locks, index, { at: "free" }) } : known;
