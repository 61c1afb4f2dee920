// Folds what git has answered into the state of a branch.
import type { Instant } from "@janus/types";
import { compareFrom } from "./branch-changes.ts";
import type { BranchEvent } from "./branch-event.ts";
import type { BranchState, Comparison, ListedResource } from "./branch-state.ts";
import type { Outcome } from "./git/cycle.ts";
import type { ObjectId } from "./git/object-id.ts";
import { settled, withoutPushed } from "./history.ts";

/** Takes note that the commits up to `head` are in the branch: their touches are not needed any more. */
export const landed = (state: BranchState, head: ObjectId | undefined): BranchState => {
  const commits = head === undefined ? undefined : state.made.get(head);
  if (head === undefined || commits === undefined) return state;
  const history = withoutPushed(
    state.history,
    commits.flatMap(({ files }) => files),
  );
  const made = new Map(state.made);
  made.delete(head);
  const uids = new Set(commits.flatMap(({ by }) => (by.type === "transaction" ? [by.uid] : [])));
  return {
    ...state,
    history,
    made,
    transactions: new Map(
      [...state.transactions].map(([uid, one]) => [uid, uids.has(uid) ? { ...one, isDone: true } : one]),
    ),
  };
};

/** Marks Transactions as done whose commits were due, also if they had nothing to commit, unless others hold their files. */
const withDone = (state: BranchState, { due, held }: Comparison): BranchState["transactions"] =>
  new Map(
    [...state.transactions].flatMap(([uid, one]) => {
      const isHeld = one.transaction.targets.some(({ path }) => held.has(path));
      if (due.get(uid) !== one.transaction.phase || isHeld) return [[uid, one] as const];
      return one.evidence.isGone ? [] : [[uid, { ...one, isDone: true }] as const];
    }),
  );

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
/** The pause after a repository was too large, in ms: much is fetched for nothing. */
const PAUSE_OF_LARGE = 300_000;

export const failed = (state: BranchState, trouble: NonNullable<BranchState["trouble"]>, now: Instant): BranchState => {
  const failures = state.failures + 1;
  const { comparison } = state;
  const unpushed = comparison?.commits.reduce((sum, { files }) => sum + files.length, 0) ?? 0;
  return {
    ...state,
    comparison: comparison && { ...comparison, commits: [], left: comparison.left + unpushed },
    trouble,
    failures,
    retryAt:
      now +
      (trouble.reason === "RepositoryTooLarge"
        ? PAUSE_OF_LARGE
        : Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures - 1, 10))),
    toCompare: compareFrom(state, now, true),
    fetchedAt: undefined,
  };
};

const pushedTo = (
  destinations: BranchState["destinations"],
  { commits: ids }: Extract<Outcome, { readonly is: "pushed" }>,
  { commits: planned, destinations: compared }: Comparison,
  now: Instant,
): BranchState["destinations"] =>
  new Map(
    [...destinations].map(([name, one]) => {
      const committed = compared.get(name)?.committed;
      const own = planned.map(({ files }) => files.filter(({ path }) => committed?.has(path) === true).length);
      const last = ids[own.findLastIndex((files) => files > 0)];
      if (last === undefined) return [name, one];
      const pushed = {
        commits: one.pushed.commits + own.filter((files) => files > 0).length,
        files: one.pushed.files + own.reduce((sum, files) => sum + files, 0),
      };
      return [name, { ...one, lastCommit: last, lastPush: now, pushed }];
    }),
  );

/** Marks resources as compared: changes by Transactions before this process began are no longer looked for there. */
const withResumed = (
  destinations: BranchState["destinations"],
  compared: Comparison["destinations"],
): BranchState["destinations"] =>
  new Map(
    [...destinations].map(([name, one]) => {
      const complete = compared.get(name)?.complete;
      const resources = [...one.resources].map(([key, listed]): readonly [string, ListedResource] => [
        key,
        complete?.has(key) === true && !listed.isResumed ? { ...listed, isResumed: true } : listed,
      ]);
      return [name, { ...one, resources: new Map(resources) }];
    }),
  );

export const ended = (
  state: BranchState,
  { outcomes, isFresh }: Extract<BranchEvent, { readonly type: "ended" }>,
  now: Instant,
): BranchState => {
  const outcome = outcomes.at(-1);
  if (outcome === undefined) return state;
  const found = landed(state, outcome.landed);
  if (outcome.is === "failed") return failed(found, outcome.trouble, now);
  const { comparison } = found;
  const pushed = outcome.is === "pushed" ? landed(found, outcome.commits.at(-1)) : found;
  const isAll = comparison?.isAll === true;
  const isLater = (pushed.toCompare?.number ?? 0) > (comparison?.number ?? 0);
  const next: BranchState = {
    ...pushed,
    destinations:
      outcome.is === "pushed" && comparison !== undefined
        ? pushedTo(pushed.destinations, outcome, comparison, now)
        : pushed.destinations,
    trouble: undefined,
    failures: 0,
    retryAt: 0,
    fetchedAt: isFresh || outcome.replays > 0 || pushed.fetchedAt === undefined ? now : pushed.fetchedAt,
    toCompare: isAll ? (isLater ? pushed.toCompare : undefined) : compareFrom(pushed, now, true),
  };
  if (!isAll || comparison === undefined) return next;
  return {
    ...next,
    destinations: withResumed(next.destinations, comparison.destinations),
    transactions: withDone(next, comparison),
    history: settled(next.history, comparison.upTo, (path) => comparison.held.has(path)),
    hasSettled: true,
    idleSince: now,
  };
};
