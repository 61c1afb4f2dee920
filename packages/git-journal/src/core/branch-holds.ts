// Holds files of a branch for Transactions that have not ended, and says whose commits are due.
import type { Instant } from "@janus/types";
import type { BranchState, KnownTransaction } from "./branch-state.ts";
import { objectAt, writable } from "./branch-state.ts";
import { credited, isDoubtful, LAG } from "./credit.ts";
import { resourceKey } from "./discovery.ts";
import { type FilePath, isWithin, layoutOf, relativeTo } from "./path.ts";
import { type Hold, heldFiles, holdOf, type JournaledTarget } from "./transactions.ts";

export interface HeldTransaction {
  readonly known: KnownTransaction;
  readonly hold: Hold;
}

const isTouchedBy = ({ history }: BranchState, uid: string, at: FilePath): boolean =>
  history.touches.some(({ by, path }) => path === at && by.type === "transaction" && by.uid === uid);

/** Whether the known state of an object shows that the Transaction has changed it. */
const isShown = (state: BranchState, uid: string, { path, sign }: JournaledTarget): boolean => {
  const object = objectAt(state, path);
  // A mark that has come or moved is a touch; a later Transaction may have taken over its fields since.
  if (sign.type === "mark") return object?.marks.has(uid) === true || isTouchedBy(state, uid, path);
  return sign.type === "end" && object?.uid !== sign.uid;
};

const withShown = (state: BranchState, { transaction, evidence }: KnownTransaction): ReadonlySet<FilePath> =>
  new Set([
    ...evidence.shown,
    ...transaction.targets.filter((target) => isShown(state, transaction.uid, target)).map(({ path }) => path),
  ]);

/** Decides what is to be done about each known Transaction. */
export const holdsOf = (state: BranchState, now: Instant): readonly HeldTransaction[] =>
  [...state.transactions.values()].map((known) => {
    const { transaction, evidence, isDone } = known;
    if (isDone) return { known, hold: { type: "due", isIncomplete: false } };
    const shown = withShown(state, known);
    return { known, hold: holdOf(transaction, { ...evidence, shown }, state.branch.limits.maxWait, now) };
  });

/** Whether the resource of a file has no complete list now: its changes wait for that. */
export const isUnlisted = (state: BranchState, path: FilePath): boolean =>
  writable(state).some(({ wanted, resources }) => {
    const { folder } = wanted.destination;
    const layout = isWithin(folder, path) ? layoutOf(relativeTo(folder, path)) : undefined;
    if (layout === undefined) return false;
    const listed = resources.get(resourceKey({ group: layout.group, plural: layout.resource }));
    return listed !== undefined && listed.list.is !== "complete";
  });

const isListed = (state: BranchState): boolean =>
  writable(state).every(({ resources }) => [...resources.values()].every(({ list }) => list.is === "complete"));

export interface Holds {
  readonly transactions: readonly HeldTransaction[];
  /** Files that are not committed now. */
  readonly held: ReadonlySet<FilePath>;
  /** The time at which the first wait for a watch is over. */
  readonly until: Instant;
}

export const holdsAt = (state: BranchState, now: Instant): Holds => {
  const transactions = holdsOf(state, now);
  const doubtful = state.history.touches.filter((touch) => now < touch.at + LAG && isDoubtful(state, touch));
  const held = heldFiles(
    transactions.map(({ known: { transaction }, hold }) => ({ transaction, hold })),
    credited(state, state.history.touches),
  );
  const unlisted = isListed(state) ? [] : state.history.touches.filter(({ path }) => isUnlisted(state, path));
  const waiting = [...doubtful, ...unlisted];
  const waits = [
    ...transactions.flatMap(({ hold }) => (hold.type === "awaited" ? [hold.until] : [])),
    ...doubtful.map(({ at }) => at + LAG),
  ];
  return {
    transactions,
    held: waiting.length === 0 ? held : new Set([...held, ...waiting.map(({ path }) => path)]),
    until: Math.min(Number.POSITIVE_INFINITY, ...waits),
  };
};
