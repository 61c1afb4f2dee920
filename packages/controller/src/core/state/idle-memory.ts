// Estimates the memory of a waiting Transaction, and drops what can be read again.
import { type Change, FINALIZER, type Metadata, type Transaction } from "@janus/api";
import { hasUnreadContents } from "./contents.ts";
import type { ContentsObservation } from "./contents-observation.ts";
import { type Step, wait } from "./effect.ts";
import { outlined, sizeOfData, sizeOfObject, withoutBefore, withoutGoal, withoutTarget } from "./memory-budget.ts";
import {
  type ChangeObservations,
  journalIn,
  mapChanges,
  noObservations,
  type Observations,
  snapshotIn,
  trialIn,
} from "./observations.ts";
import type { LockObservation } from "./lock-observation.ts";
import { waiting } from "./status-progress.ts";
import { isTerminal } from "./status-update.ts";
import { deadline, type ReconcileContext } from "./reconcile-context.ts";
import { REQUESTS } from "./request-annotations.ts";
import { sizeOf } from "@janus/types";

/** A Transaction that takes more memory than this, with its observations, is large. */
const LARGE = 128 * 1024;
/** How much of its targets is kept while it waits, in bytes, to save requests. */
const KEPT = 16 * 1024;
/** The approximate size of an object with owners. */
const OWNED_BYTES = 200;
/** How long a large one waits before it tries again, in ms, unless it is woken. */
const MEMORY_AWAITED = 30_000;

type Work = Pick<ReconcileContext, "txn" | "known">;

const total = <A>(values: Iterable<A>, size: (value: A) => number): number => {
  let sum = 0;
  for (const value of values) sum += size(value);
  return sum;
};

const changeBytes = ({ target, before, rollback, gate }: ChangeObservations): number =>
  sizeOfObject(target?.object) +
  sizeOfObject(before) +
  sizeOfObject(rollback?.goal) +
  (gate?.judged?.unmet?.state.message.length ?? 0);

const contentsBytes = (one: ContentsObservation): number => (one.type === "read" ? one.weight : 0);

const knownBytes = (known: Observations): number =>
  total(known.contents.values(), contentsBytes) +
  total(known.changes.values(), changeBytes) +
  total(known.storeData.values(), sizeOfData) +
  total(known.owned.values(), ({ length }) => length * OWNED_BYTES);

/** Whether it is going to read contents that are not in its spec. */
const readsContents = ({ txn, known }: Work): boolean => !isTerminal(txn.status.phase) && hasUnreadContents(txn, known);

/** Whether it takes so much memory, or may in its next step, that only a few like it are processed at the same time. */
export const isLarge = (work: Work): boolean =>
  readsContents(work) || sizeOf(work.txn) + knownBytes(work.known) > LARGE;

/** A target that is as much work for the API server as many others are. */
const LARGE_TARGET = 256 * 1024;

/** Whether it has a target in memory of which requests are so much work that there should be one of them at a time. */
export const hasLargeTarget = ({ changes }: Observations): boolean =>
  [...changes.values()].some((observed) => changeBytes(observed) > LARGE_TARGET);

const withoutContent = (change: Change): Change => (change.type === "Delete" ? change : { ...change, content: {} });

/** Drops labels, owners, other finalizers, and the values of annotations: an author may set as many as fit into etcd. */
const restingMetadata = (metadata: Metadata): Metadata => {
  const { labels: _, ownerReferences: __, finalizers = [], annotations = {}, ...identity } = metadata;
  return {
    ...identity,
    finalizers: finalizers.filter((name) => name === FINALIZER),
    annotations: Object.fromEntries(REQUESTS.filter((name) => name in annotations).map((name) => [name, ""])),
  };
};

const restingTransaction = ({ metadata, spec, status }: Transaction): Transaction => {
  const { render: _, ...rest } = status;
  return {
    metadata: restingMetadata(metadata),
    spec: { ...spec, changes: spec.changes.map(withoutContent) },
    status: { ...rest, conditions: [] },
  };
};

/**
 * The part of a waiting Transaction that is kept: its identity, its targets and their locks, and the outcome of its requests. Its
 * content is read again in any case; and, as after a restart, so are its targets and their snapshots if they are large.
 */
export const atRest = ({ txn, known }: Work, kept = KEPT): Work => ({
  txn: restingTransaction(txn),
  known: knownBytes(known) > kept ? trimmed(known) : known,
});

/** Bytes in memory of what is known of a change at rest, with its lock and permissions; … */
const RESTING_CHANGE = 700;
/** … what is known of an object of ours, or of a kind; … */
const KNOWN_OBJECT = 200;
/** … and a lock of which only its state is known. */
const OUTLINED_LOCK = 64;

/** The approximate memory of a Transaction at rest, in bytes. Its text takes twice as much as an object. */
export const restingBytes = ({ txn, known }: Work): number =>
  2 * sizeOf(txn) +
  knownBytes(known) +
  KNOWN_OBJECT *
    (known.resources.size +
      known.stores.size +
      known.found.size +
      known.cleanup.stores.size +
      known.cleanup.locks.size) +
  total(known.changes.values(), (observed) => (OUTLINES.has(observed) ? OUTLINED_LOCK : RESTING_CHANGE));

const FREE: ChangeObservations = { lock: { type: "free" } };
const TAKEN: ChangeObservations = { lock: { type: "taken" } };
const OUTLINES: ReadonlySet<ChangeObservations> = new Set([FREE, TAKEN]);

/** One that another client holds is waited for: for how long it has been unchanged cannot be read. */
const outlinedLock = (observed: LockObservation, awaited: LockObservation | undefined): ChangeObservations => {
  if (observed === awaited || observed.type === "lost" || observed.type === "impossible") return { lock: observed };
  // Perhaps ours: it is read before anything is written under it. Of any other one that is certain: it is not ours.
  return observed.type === "held" || observed.type === "taken" ? TAKEN : FREE;
};

/** The lock that was read last of those that others hold. */
const awaitedLock = ({ changes }: Observations): LockObservation | undefined => {
  let last: Extract<LockObservation, { type: "theirs" }> | undefined;
  for (const { lock } of changes.values())
    if (lock?.type === "theirs" && (last === undefined || lock.readAt > last.readAt)) last = lock;
  return last;
};

/**
 * The part of a waiting Transaction that is kept if there is no memory for more: its identity, and what could not be found out
 * again. All else is read again in its turn, as after a restart.
 */
export const outlineAtRest = ({ txn, known }: Work): Work => {
  const { metadata, spec, status } = restingTransaction(txn);
  const { journal: _, serviceAccount: __, namespace: ___, later: ____, yieldRequester: _____, ...rest } = known;
  const awaited = awaitedLock(known);
  const locks = [...known.changes].flatMap(([index, { lock }]) =>
    lock === undefined ? [] : [[index, outlinedLock(lock, awaited)] as const],
  );
  return {
    txn: { metadata, spec: { ...spec, changes: [] }, status: { ...status, items: [], snapshots: [] } },
    known: { ...rest, ...noObservations(known.since), statusWritten: known.statusWritten, changes: new Map(locks) },
  };
};

/**
 * A target that is read again may have changed: what was derived from it is dropped, unless it was
 * tried, and its snapshot is written.
 */
const trimmed = (known: Observations): Observations => ({
  ...mapChanges(known, (observed, index) => trimmedChange(observed, isKept(known, index))),
  contents: new Map(),
  storeData: new Map(),
  owned: new Map(),
});

/** Nothing more is asked of its target: it was tried, and is in a snapshot. */
const isKept = (known: Observations, index: number): boolean =>
  snapshotIn(known, index) !== undefined && trialIn(known, index) !== undefined;

const trimmedChange = (observed: ChangeObservations, isKept: boolean): ChangeObservations => {
  const left = withoutGoal(withoutBefore(isKept ? outlined(observed) : observed));
  const isGoing = left.target === undefined || left.target.type === "read";
  return isGoing
    ? { ...withoutTarget(left), preflight: { ...left.preflight, trial: undefined, otherVersions: undefined } }
    : left;
};

/** How many of its targets need not be read again if it is reduced to what is kept of a waiting Transaction. */
export const keptTargets = (known: Observations): number =>
  [...known.changes].filter(([index, { target }]) => isKept(known, index) || target?.type === "outline").length;

const BECAUSE = "waiting: the Transaction is large, and only a few large Transactions are processed at the same time";

/** It waits until it is its turn to take memory. The status of one that has ended, that is a Draft, or that only a later version can process, stays as it is. */
export const awaitMemory = (context: ReconcileContext): Step => {
  const { txn, known, now } = context;
  const until = Math.min(now + MEMORY_AWAITED, now < deadline(context) ? deadline(context) : Number.POSITIVE_INFINITY);
  const isUnderWay = txn.status.phase === "Committing" || txn.status.phase === "RollingBack";
  return isTerminal(txn.status.phase) || txn.spec.lifecycle !== "Published" || known.later !== undefined
    ? wait(until, BECAUSE)
    : waiting(context, isUnderWay ? journalIn(known) : undefined, until, BECAUSE);
};
