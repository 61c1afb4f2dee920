// The condition Reversible, and the end of the rollbackWindow of a Committed Transaction.
import type { Transaction } from "@janus/api";
import { fromTimestamp, type Instant, toTimestamp } from "@janus/types";

/** The condition of a Transaction that was Committed with a rollbackWindow. */
export const REVERSIBLE = "Reversible";

/** The value of that condition. */
export interface Reversibility {
  readonly isReversible: boolean;
  readonly reason: "WithinWindow" | "WindowPassed" | "Irreversible" | "Deleted" | "RollbackRequested";
  readonly message: string;
}

/** Whether it is Committed, and all that a rollback needs is still there. */
export const isReversible = ({ status: { phase, conditions } }: Transaction): boolean =>
  phase === "Committed" && conditions.some(({ type, status }) => type === REVERSIBLE && status === "True");

/**
 * Whether it is Committed, can be rolled back, and has nothing left to clean up until its window has passed: its locks are
 * released, and no create of ours is in flight.
 */
export const isResting = (txn: Transaction): boolean => isReversible(txn) && txn.status.reversibleUntil !== undefined;

/** Whether it is Committed, and its journal and snapshots are not deleted yet. (A RolledBack one keeps its snapshots.) */
export const isCommittedWithSnapshots = ({ status: { phase, journal, snapshots } }: Transaction): boolean =>
  phase === "Committed" && (journal !== undefined || snapshots.length > 0);

/** The end of the window of a Transaction that was Committed at this time; to the second, as it is recorded. */
const endOf = ({ spec: { rollbackWindow = 0 } }: Transaction, committed: Instant): Instant =>
  (fromTimestamp(toTimestamp(committed)) ?? committed) + rollbackWindow;

/** The time until when it can be rolled back if it is Committed now. */
export const untilWhen = (txn: Transaction, now: Instant): string => toTimestamp(endOf(txn, now));

/** When the window of a Committed Transaction ends. If a client has removed both times from its status, it has ended. */
export const windowEnd = (txn: Transaction): Instant => {
  const { completedAt, reversibleUntil } = txn.status;
  const committed = fromTimestamp(completedAt);
  return committed === undefined ? (fromTimestamp(reversibleUntil) ?? 0) : endOf(txn, committed);
};
