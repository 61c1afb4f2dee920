/**
 * Decides which changes are those of a Transaction.
 *
 * A mark alone proves nothing: whoever may write an object may write it with any mark, and a rollback gives back the marks that were
 * there before.
 */
import type { BranchState, KnownTransaction } from "./branch-state.ts";
import { type By, type Touch, UNKNOWN } from "./history.ts";
import type { FilePath } from "./path.ts";
import { isRolledBack, mayHaveChanged } from "./transactions.ts";

/** The time by which the watch of Transactions may be behind that of objects, in ms. */
export const LAG = 2_000;

const isAuthor = ({ transaction, isDone }: KnownTransaction, path: FilePath): boolean =>
  !isDone && mayHaveChanged(transaction, path);

/** Whether a change has the mark of a Transaction that is not known to have made it. */
export const isDoubtful = ({ transactions }: Pick<BranchState, "transactions">, { by, path }: Touch): boolean => {
  if (by.type !== "transaction") return false;
  const own = transactions.get(by.uid);
  return own === undefined || !isAuthor(own, path);
};

/** A touch of a file, and its author. */
interface Credited {
  readonly touch: Touch;
  readonly by: By;
}

const uidOf = (by: By | undefined): string | undefined => (by?.type === "transaction" ? by.uid : undefined);

const says = ({ touch }: Credited): string | undefined => touch.version?.fingerprint;

/** Whether the file says again what it said before the Transaction. */
const isBack = (earlier: readonly Credited[], uid: string): boolean => {
  const isOwn = ({ by }: Credited): boolean => uidOf(by) === uid;
  const before = earlier[earlier.findIndex(isOwn) - 1];
  const last = earlier.findLast(isOwn);
  return before !== undefined && last !== undefined && says(before) === says(last);
};

/**
 * Finds the Transaction whose rollback gives back this mark: the last one that had changed the object since the mark, and is not
 * back yet; its locks kept the others from the object.
 */
const givenBackBy = (
  earlier: readonly Credited[],
  mark: string,
  isRolledBack: (uid: string) => boolean,
): string | undefined =>
  earlier
    .slice(earlier.findLastIndex(({ touch }) => uidOf(touch.by) === mark) + 1)
    .flatMap(({ by }) => uidOf(by) ?? [])
    .findLast((uid) => isRolledBack(uid) && !isBack(earlier, uid));

type Transactions = Pick<BranchState, "transactions">;

const only = <A>([one, ...more]: readonly A[]): A | undefined => (more.length === 0 ? one : undefined);

const author = (state: Transactions, touch: Touch, earlier: readonly Credited[]): By => {
  const { path, by } = touch;
  const mark = uidOf(by);
  const isInDoubt = isDoubtful(state, touch);
  if (mark === undefined || (!isInDoubt && !earlier.some((one) => uidOf(one.touch.by) === mark))) return by;
  const authors = [...state.transactions.values()].flatMap((one) => (isAuthor(one, path) ? [one.transaction] : []));
  const rolledBack = authors.flatMap((one) => (isRolledBack(one, path) ? [one.uid] : []));
  const giver = givenBackBy(earlier, mark, (uid) => rolledBack.includes(uid));
  if (!isInDoubt) return giver === undefined ? by : { type: "transaction", uid: giver };
  const uid = giver ?? only(rolledBack) ?? only(authors)?.uid;
  return uid === undefined ? UNKNOWN : { type: "transaction", uid };
};

/**
 * Returns the changes, each with the Transaction that has made it.
 *
 * Guarantees: a Transaction is the author of changes of its targets alone, from its beginning until its commit is made; where a mark is
 *             given back, it is the one that had changed the object since that mark and is rolled back, else the only one that may have
 *             changed it; else nobody knows.
 */
export const credited = (state: Transactions, touches: readonly Touch[]): readonly Touch[] => {
  if (!touches.some(({ by }) => by.type === "transaction")) return touches;
  const byPath = new Map<FilePath, Credited[]>();
  return touches.map((touch) => {
    const earlier = byPath.get(touch.path) ?? [];
    const by = author(state, touch, earlier);
    earlier.push({ touch, by });
    byPath.set(touch.path, earlier);
    return by === touch.by ? touch : { ...touch, by };
  });
};

/**
 * Finds the Transaction that has made a version with which these marks have come or moved: the only one that is not given back;
 * undefined if that is none, or cannot be told.
 */
export const changedBy = (
  state: Transactions & Pick<BranchState, "history">,
  path: FilePath,
  moved: readonly string[],
): string | undefined => {
  if (moved.length < 2) return moved[0];
  const own = state.history.touches.filter((touch) => touch.path === path).map(({ by }) => uidOf(by));
  const isGivenBack = (uid: string): boolean => {
    const known = state.transactions.get(uid);
    const last = own.lastIndexOf(uid);
    return (
      known === undefined ||
      !isAuthor(known, path) ||
      (last >= 0 && own.slice(last + 1).some((one) => one !== undefined))
    );
  };
  return only(moved.filter((uid) => !isGivenBack(uid)));
};
