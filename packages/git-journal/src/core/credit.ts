/**
 * Decides which changes are those of a Transaction.
 *
 * A mark alone proves nothing: whoever may write an object may write it with any mark, and a rollback gives back the marks that were
 * there before.
 */
import type { BranchState, KnownTransaction } from "./branch-state.ts";
import { type Touch, UNKNOWN } from "./history.ts";
import type { FilePath } from "./path.ts";
import { mayHaveChanged } from "./transactions.ts";

/** So long the watch of Transactions may be behind that of the objects, in ms. */
export const LAG = 2_000;

const isAuthor = ({ transaction, isDone }: KnownTransaction, path: FilePath): boolean =>
  !isDone && mayHaveChanged(transaction, path);

/** Whether the Transaction that a change seems to be of is not known to have made it. */
export const isDoubtful = ({ transactions }: Pick<BranchState, "transactions">, { by, path }: Touch): boolean => {
  if (by.type !== "transaction") return false;
  const own = transactions.get(by.uid);
  return own === undefined || !isAuthor(own, path);
};

/**
 * A change, with the Transaction that has made it.
 *
 * Guarantees: a Transaction is the author of changes of its targets alone, from its beginning until its commit is made; else it is the
 *             only other one that may have changed the object, whose rollback gives back marks; else nobody knows.
 */
export const credited = (state: Pick<BranchState, "transactions">, touch: Touch): Touch => {
  if (!isDoubtful(state, touch)) return touch;
  const [other, ...more] = [...state.transactions.values()].filter((one) => isAuthor(one, touch.path));
  const isKnown = other !== undefined && more.length === 0;
  return { ...touch, by: isKnown ? { type: "transaction", uid: other.transaction.uid } : UNKNOWN };
};
