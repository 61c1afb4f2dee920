// Keeps the Transactions of this process that wait for locks, and tells which one is next.
import { type Awaited, hasPriorityOver, type ObjectRef, type QueuedTransaction } from "../../core/index.ts";

export interface Waiting {
  readonly txn: QueuedTransaction;
  readonly awaited: Awaited;
}

/** The Transactions of this process that wait for each lock. */
export interface LockWaiters {
  /** It waits for this lock, and for no other one. */
  readonly join: (waiting: Waiting) => void;
  /** It waits for no lock, or could not acquire one now: no other Transaction waits for it. */
  readonly leave: (uid: string) => void;
  /** The one that has priority over this one. */
  readonly queuedBefore: (txn: QueuedTransaction, lease: ObjectRef) => QueuedTransaction | undefined;
  /** The one that acquires it next. */
  readonly first: (lease: ObjectRef) => Waiting | undefined;
}

const nameOf = ({ namespace = "", name }: ObjectRef): string => `${namespace}/${name}`;

const before = (best: Waiting | undefined, one: Waiting): Waiting =>
  best === undefined || hasPriorityOver(one.txn, best.txn) ? one : best;

export const newLockWaiters = (): LockWaiters => {
  const byUid = new Map<string, Waiting>();
  const byLease = new Map<string, Map<string, Waiting>>();

  const leave = (uid: string): void => {
    const lease = byUid.get(uid)?.awaited.lease;
    if (lease === undefined) return;
    byUid.delete(uid);
    const others = byLease.get(nameOf(lease));
    others?.delete(uid);
    if (others?.size === 0) byLease.delete(nameOf(lease));
  };

  const first = (lease: ObjectRef): Waiting | undefined =>
    [...(byLease.get(nameOf(lease))?.values() ?? [])].reduce<Waiting | undefined>(before, undefined);

  return {
    join: (waiting) => {
      const { uid } = waiting.txn.metadata;
      const lease = nameOf(waiting.awaited.lease);
      leave(uid);
      byUid.set(uid, waiting);
      byLease.set(lease, (byLease.get(lease) ?? new Map<string, Waiting>()).set(uid, waiting));
    },
    leave,
    queuedBefore: (txn, lease) => {
      const other = first(lease)?.txn;
      return other !== undefined && hasPriorityOver(other, txn) ? other : undefined;
    },
    first,
  };
};
