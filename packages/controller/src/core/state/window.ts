// Selects the changes that one intent in the journal covers.
import { type Change, deletes, groupOf, type Transaction } from "@janus/api";
import { gatedChanges } from "./gated-changes.ts";
import { firstIrreversible } from "./irreversible-deletions.ts";
import { type Forward, itemState, type Journal } from "./journal.ts";
import { isEnabling } from "./target-resolution.ts";

/** The most changes that one intent covers. After a crash the target of each of them is read. */
const MOST = 16;

const SERVING: readonly string[] = ["admissionregistration.k8s.io", "apiregistration.k8s.io"];

/** Whether it is alone in its window: with it, the marks of others may become unreadable, or be stripped; a Replace is two writes. */
const isApart = (change: Change): boolean =>
  change.type === "Replace" || isEnabling(change) || SERVING.includes(groupOf(change.target.apiVersion));

/**
 * Whether this change may be sent before it is recorded that the one before it is in. A Delete may not, since what is gone proves
 * nothing of the changes before it.
 *
 * @param late changes whose locks are taken in their turn
 */
export const mayFollow = (txn: Transaction, index: number, late: ReadonlySet<number>): boolean => {
  const [former, change] = [txn.spec.changes[index - 1], txn.spec.changes[index]];
  return (
    former !== undefined &&
    change !== undefined &&
    !isApart(former) &&
    !isApart(change) &&
    firstIrreversible(txn, index + 1) === undefined &&
    !deletes(change) &&
    !late.has(index) &&
    gatedChanges(txn, index).length === 0
  );
};

const mayRecede = (change: Change | undefined): boolean => change !== undefined && !isApart(change) && !deletes(change);

/**
 * The last change of the window of a rollback: it, and those down to there, may be restored and not recorded yet. What a Delete took
 * away is recorded on its own, since it gets a new uid; and so is everything while an item is deferred. What a former rollback has
 * settled is in no window: it is not looked at again.
 */
export const lastToRecede = (txn: Transaction, journal: Journal): number => {
  const { changes } = txn.spec;
  const { position, ahead, deferred } = journal;
  const { cursor } = position;
  if (deferred.size > 0) return cursor;
  const from = ahead?.from ?? cursor;
  const isLeft = (index: number): boolean =>
    mayRecede(changes[index]) && (index > cursor || itemState(txn, index, journal).type === "committed");
  let last = from;
  while (from - last + 1 < MOST && mayRecede(changes[last]) && isLeft(last - 1)) last -= 1;
  return last;
};

/** The position at which the change at the cursor is next, and which is the intent of those that may follow it. */
export const intentAt = (txn: Transaction, cursor: number, late: ReadonlySet<number>): Forward => {
  let until = cursor + 1;
  while (until < cursor + MOST && mayFollow(txn, until, late)) until += 1;
  return { direction: "forward", cursor, ...(until > cursor + 1 ? { until } : {}) };
};
