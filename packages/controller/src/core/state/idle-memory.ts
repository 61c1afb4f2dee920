import type { Change } from "@janus/api";
import { type Step, wait } from "./effect.ts";
import { outlined, sizeOfData, sizeOfObject, withoutBefore, withoutGoal, withoutTarget } from "./memory-budget.ts";
import { type ChangeObservations, journalIn, mapChanges, type Observations } from "./observations.ts";
import { waiting } from "./status-progress.ts";
import { isTerminal } from "./status-update.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { sizeOf } from "@janus/types";

/** A Transaction that takes more memory than this, with its observations, is large. */
const LARGE = 128 * 1024;
/** How much of its targets is kept while it waits, in bytes, to save requests. */
const KEPT = 16 * 1024;
/** The approximate size of an object with owners. */
const OWNED_BYTES = 200;
/** How long a large one waits before it tries again, in ms, unless it is woken. */
const PATIENCE = 30_000;

type Work = Pick<ReconcileContext, "txn" | "known">;

const total = <A>(values: Iterable<A>, size: (value: A) => number): number => {
  let sum = 0;
  for (const value of values) sum += size(value);
  return sum;
};

const changeBytes = ({ target, before, rollback }: ChangeObservations): number =>
  sizeOfObject(target?.object) + sizeOfObject(before) + sizeOfObject(rollback?.goal);

const knownBytes = (known: Observations): number =>
  total(known.changes.values(), changeBytes) +
  total(known.storeData.values(), sizeOfData) +
  total(known.owned.values(), ({ length }) => length * OWNED_BYTES);

/** Whether it takes so much memory that only a few like it are processed at the same time. */
export const isLarge = ({ txn, known }: Work): boolean => sizeOf(txn) + knownBytes(known) > LARGE;

/** A target that is as much work for the API server as many others are. */
const LARGE_TARGET = 256 * 1024;

/** Whether it has a target in memory of which requests are so much work that there should be one of them at a time. */
export const hasLargeTarget = ({ changes }: Observations): boolean =>
  [...changes.values()].some((observed) => changeBytes(observed) > LARGE_TARGET);

const withoutContent = (change: Change): Change => (change.type === "Delete" ? change : { ...change, content: {} });

/**
 * What is kept of a waiting Transaction: its identity, its targets and their locks, and the outcome of its
 * requests. Its content is read again in any case; and, as after a restart, so are its targets and their
 * snapshots if they are large.
 */
export const atRest = ({ txn, known }: Work, kept = KEPT): Work => ({
  txn: { ...txn, spec: { ...txn.spec, changes: txn.spec.changes.map(withoutContent) } },
  known: knownBytes(known) > kept ? trimmed(known) : known,
});

/**
 * A target that is read again may have changed: what was derived from it is dropped, unless its snapshot is
 * written.
 */
const trimmed = (known: Observations): Observations => ({
  ...mapChanges(known, trimmedChange),
  storeData: new Map(),
  owned: new Map(),
});

const trimmedChange = (observed: ChangeObservations): ChangeObservations => {
  const left = withoutGoal(withoutBefore(observed.snapshot === undefined ? observed : outlined(observed)));
  const isGoing = left.target === undefined || left.target.type === "read";
  return isGoing
    ? { ...withoutTarget(left), problems: undefined, rendered: undefined, otherVersions: undefined }
    : left;
};

const BECAUSE = "waiting: the Transaction is large, and only a few large Transactions are processed at the same time";

/** It waits until it is its turn to take memory. The status of one that has ended, that is a Draft, or that a later version has to go on with, stays as it is. */
export const awaitMemory = (context: ReconcileContext): Step => {
  const { txn, known, now } = context;
  const until = now + PATIENCE;
  const isUnderWay = txn.status.phase === "Committing" || txn.status.phase === "RollingBack";
  return isTerminal(txn.status.phase) || txn.spec.lifecycle !== "Published" || known.later !== undefined
    ? wait(until, BECAUSE)
    : waiting(context, isUnderWay ? journalIn(known) : undefined, until, BECAUSE);
};
