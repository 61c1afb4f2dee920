/**
 * Decides what a worker does next for its branch.
 *
 * There is one step at a time: a crash falls before it, into it, or after it.
 */
import type { Instant } from "@janus/types";
import { dueAt } from "./batch.ts";
import { type BranchState, type ListedResource, type TargetPlace, writable } from "./branch-state.ts";
import { holdsAt } from "./branch-holds.ts";
import type { FilePath } from "./path.ts";

export type BranchStep =
  /** Waits until this instant, unless something happens. */
  | { readonly do: "wait"; readonly until: Instant; readonly because: string }
  | { readonly do: "acquire" }
  | { readonly do: "release" }
  /** Reads targets of a Transaction live, since the watch has not shown its changes. */
  | {
      readonly do: "readTargets";
      readonly uid: string;
      readonly targets: readonly (TargetPlace & { readonly path: FilePath })[];
    }
  /** Looks for the texts of these versions, by their fingerprints. */
  | { readonly do: "load"; readonly missing: ReadonlyMap<string, FilePath> }
  /** Brings to the branch what is missing there. `isFresh`: the server is asked for its tip first. */
  | { readonly do: "sync"; readonly isFresh: boolean };

export interface BranchTiming {
  /** The pause between two fetches of the tip, in ms. */
  readonly refresh: number;
  /** The time for which the Lease is kept while there is nothing to write, in ms. */
  readonly idle: number;
}

const NEVER = Number.POSITIVE_INFINITY;

const wait = (until: Instant, because: string): BranchStep => ({ do: "wait", until, because });

/** Whether a list is complete, or has failed twice: one failure may pass, but a list that is always forbidden stops nothing. */
const isTried = ({ list }: ListedResource): boolean => list.is === "complete" || (list.is === "failed" && list.isAgain);

/** Whether objects can be compared: before the first sync, each list is complete, or has failed twice. */
const isReady = (state: BranchState): boolean =>
  state.areTransactionsKnown &&
  (state.hasSettled || writable(state).every(({ resources }) => [...resources.values()].every(isTried)));

/** Returns when the touches that are not held are due. */
const touchesDue = ({ history, branch }: BranchState, held: ReadonlySet<FilePath>): Instant => {
  const free = history.touches.filter(({ path }) => !held.has(path));
  return dueAt(
    {
      files: new Set(free.map(({ path }) => path)).size,
      bytes: free.reduce((sum, { version }) => sum + (version?.bytes ?? 0), 0),
      since: free.reduce((first, { at }) => Math.min(first, at), NEVER),
      isFirst: false,
    },
    branch.limits,
  );
};

const comparisonDue = ({ toCompare, branch }: BranchState): Instant => {
  if (toCompare === undefined) return NEVER;
  return toCompare.isUrgent ? toCompare.since : toCompare.since + branch.limits.maxWait;
};

const isIdle = ({ history, toCompare, trouble }: BranchState): boolean =>
  history.touches.length === 0 && toCompare === undefined && trouble === undefined;

/** Whether the server is asked for the tip: now and then, and while something is in the way there, since no push tells. */
const isTipAsked = ({ fetchedAt, comparison, destinations }: BranchState, refresh: number, now: Instant): boolean =>
  fetchedAt === undefined ||
  now >= fetchedAt + refresh ||
  (comparison?.conflicts.length ?? 0) > 0 ||
  [...destinations.values()].some(({ ownership }) => ownership?.type === "anothers" && ownership.isBlocked);

/** The number of files that are known to differ. */
export const pendingOf = ({ history, comparison }: BranchState): number =>
  Math.max(new Set(history.touches.map(({ path }) => path)).size, comparison?.left ?? 0);

/** Decides the next step. */
export const nextStep = (state: BranchState, { refresh, idle }: BranchTiming, now: Instant): BranchStep => {
  if (writable(state).length === 0)
    return state.lease === "none" ? wait(NEVER, "nothing is selected") : { do: "release" };
  if (!isReady(state)) return wait(NEVER, "objects are being listed");
  const { transactions, held, until } = holdsAt(state, now);
  for (const { known, hold } of transactions) {
    if (hold.type !== "read" || now < state.retryAt) continue;
    const targets = hold.paths.flatMap((path) => {
      const place = known.places.get(path);
      return place === undefined ? [] : [{ ...place, path }];
    });
    return { do: "readTargets", uid: known.transaction.uid, targets };
  }
  const due = Math.min(
    touchesDue(state, held),
    comparisonDue(state),
    state.fetchedAt === undefined ? NEVER : state.fetchedAt + refresh,
  );
  const at = Math.max(due, state.retryAt);
  if (at <= now) {
    if (state.lease === "none") return { do: "acquire" };
    if (state.lease !== "held") return wait(NEVER, "the Lease is awaited");
    const missing = state.comparison?.missing ?? new Map();
    if (missing.size > 0) return { do: "load", missing };
    return { do: "sync", isFresh: isTipAsked(state, refresh, now) };
  }
  const idleUntil = state.lease !== "none" && isIdle(state) ? (state.idleSince ?? now) + idle : NEVER;
  if (idleUntil <= now) return { do: "release" };
  return wait(Math.min(at, until, idleUntil), due === NEVER ? "nothing is pending" : "the next batch is not due");
};
