// The phases Committed, RolledBack and Failed: releases snapshots, locks and finalizer; retries and TTL.
import { FINALIZER, REQUEST_ROLLBACK, type Transaction } from "@janus/api";
import { allStores } from "../snapshots/prior-state.ts";
import { type ApiCall, type Discover, done, type Effect, firstStep, run, type Step, wait } from "../state/effect.ts";
import { fromTimestamp, type Instant, toTimestamp, leases } from "@janus/types";
import { deleteJournal, readJournal } from "../state/journal-requests.ts";
import { readyIn } from "../state/conditions.ts";
import { changeIn, journalIn } from "../state/observations.ts";
import { unrecordedStores } from "../snapshots/unrecorded-stores.ts";
import { isRequested, readNamespace } from "../transitions/stop-request.ts";
import { isTried } from "../forward/last-look.ts";
import { lockPlace, verifyLock, releaseLock } from "../locks/lock-requests.ts";
import { discoveries, resolvedTargets } from "../state/target-resolution.ts";
import { isRequestFulfilled, rollbackOnRequest } from "../transitions/rollback-on-request.ts";
import { isUnsettled, nextRetryAt, refuseRetry, retryRollback } from "../transitions/rollback-retry.ts";
import { isCommittedWithSnapshots, isResting, isReversible, windowEnd } from "../state/rollback-window.ts";
import { expire as deleteExpired, removeFinalizer, updateStatus } from "../state/status-update.ts";
import { releaseStore, deleteStore } from "../snapshots/release-stores.ts";
import { inFlightWindow, type ReconcileContext } from "../state/reconcile-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** Failed with an incomplete rollback: at once on request, otherwise after a delay that grows. */
const retryWhenDue = (context: ReconcileContext): Step | undefined => {
  const due = nextRetryAt(context);
  return due !== undefined && due <= context.now ? retryRollback(context) : undefined;
};

/** Whether it is Committed within its rollbackWindow, so that journal and snapshots are kept; not if it is deleted. */
const staysReversible = (txn: Transaction): boolean =>
  isReversible(txn) && txn.metadata.deletionTimestamp === undefined;

/** Its rollbackWindow has passed. */
const endWindow = ({ txn, now }: ReconcileContext): Step | undefined => {
  if (!staysReversible(txn) || now < windowEnd(txn)) return undefined;
  const { message: applied } = txn.status.conditions.find(({ type }) => type === "Committed") ?? readyIn(txn);
  const message = `it could only be rolled back until ${toTimestamp(windowEnd(txn))}`;
  const reversible = { isReversible: false, reason: "WindowPassed", message } as const;
  return run(updateStatus(txn, { because: { ...readyIn(txn), message: applied }, reversible }, now));
};

const restUntilWindowEnds = ({ txn }: ReconcileContext): Step | undefined =>
  staysReversible(txn) && isResting(txn) ? wait(windowEnd(txn), "it can be rolled back until then") : undefined;

/** Its finalizer is removed last: without it, nothing is left but to be retried, or to expire. */
const restOnceCleanedUp = (context: ReconcileContext): Step | undefined => {
  if (context.txn.metadata.finalizers?.includes(FINALIZER)) return undefined;
  const due = nextRetryAt(context);
  return due === undefined ? expire(context) : wait(due, "the rollback is retried then");
};

/**
 * Discovers only the kinds that are needed to know where the locks are: where the status does not name them. A deleted
 * Transaction does not wait for one whose API does not answer: its locks count as free.
 */
const discoverKinds = ({ txn, known }: ReconcileContext): Step | undefined => {
  const { items, reversibleUntil } = txn.status;
  if (reversibleUntil !== undefined) return undefined;
  if (txn.metadata.deletionTimestamp !== undefined && isTried(known.undiscovered)) return undefined;
  const isUnlocated = ({ apiVersion, kind }: Discover): boolean =>
    txn.spec.changes.some(
      ({ target }, index) =>
        items[index]?.lock === undefined && target.apiVersion === apiVersion && target.kind === kind,
    );
  const unknown = discoveries(txn, known).filter(isUnlocated);
  return unknown.length > 0 ? run(...unknown) : undefined;
};

const knowJournal = ({ txn, known }: ReconcileContext): Step | undefined =>
  known.journal === undefined && known.cleanup.isJournalReleased === undefined ? run(readJournal(txn)) : undefined;

/** Finds out, if it was deleted and cannot clean up, whether its namespace is being deleted, too. */
const knowNamespace = (context: ReconcileContext): Step | undefined => {
  const { txn, known, now } = context;
  const { namespace, retryingSince: hindered } = known;
  if (hindered === undefined || txn.metadata.deletionTimestamp === undefined) return undefined;
  return namespace === undefined || now >= namespace.readAt + POLL_INTERVAL ? run(readNamespace(context)) : undefined;
};

/**
 * If the namespace is being deleted, it takes the rest with it, and the lock of a deleted Transaction counts as
 * free: so the finalizer does not wait for them. But stores with our finalizer would block the namespace
 * forever, and only this Transaction says why. They are released first, however long that takes.
 */
const leaveToNamespace = (context: ReconcileContext): Step | undefined => {
  const { txn, known } = context;
  const goesAnyway =
    known.retryingSince !== undefined &&
    txn.metadata.deletionTimestamp !== undefined &&
    known.namespace?.isGoing === true;
  if (!goesAnyway) return undefined;
  const holding = [...remains(context), ...unrecordedStores(context)].filter(({ call }) => call.verb !== "delete");
  return run(...(holding.length > 0 ? holding : [withoutFinalizer(txn)]));
};

const releaseLocksAndStores = (context: ReconcileContext): Step | undefined => {
  const pending = [...locks(context), ...remains(context), ...unrecordedStores(context)];
  return pending.length > 0 ? run(...pending) : undefined;
};

/**
 * When the last create of a Lease, a store or the journal was sent whose outcome is unknown. Creates of a former
 * process count as sent just before this one took over.
 */
const lastCreate = ({ txn, known }: ReconcileContext): Instant => {
  const tookOver =
    txn.status.startedAt === undefined || known.begun || txn.status.reversibleUntil !== undefined
      ? Number.NEGATIVE_INFINITY
      : known.since;
  return Math.max(tookOver, known.unansweredCreate ?? Number.NEGATIVE_INFINITY);
};

/** The time until when a create may still take effect; long ago if none may. */
const quietAt = (context: ReconcileContext): Instant => lastCreate(context) + inFlightWindow(context.settings);

const awaitCreates = (context: ReconcileContext): Step | undefined => {
  const until = quietAt(context);
  return context.now < until ? wait(until, "a create of Janus that was not answered may still take effect") : undefined;
};

/** Starts the cleanup once more, with nothing counted as released that may have been created since. */
const sweep = (context: ReconcileContext): Step | undefined => {
  const { txn, known } = context;
  if (known.cleanup.isSwept || !Number.isFinite(quietAt(context))) return undefined;
  const read = readJournal(txn);
  return run({ ...read, folds: [{ type: "cleanup-restarted" }, ...read.folds] });
};

/** Nothing is left to do before its window ends, and nothing of it has to be looked at again until then. */
const recordRest = ({ txn, now }: ReconcileContext): Step | undefined =>
  staysReversible(txn)
    ? run(updateStatus(txn, { reversibleUntil: toTimestamp(windowEnd(txn)), because: readyIn(txn) }, now))
    : undefined;

/** Deletes the journal also if none is recorded: it may have been created just before the Transaction failed. */
const deleteUnneededJournal = ({ txn, known }: ReconcileContext): Step | undefined => {
  const isNeeded = isLeft(txn.status) && txn.metadata.deletionTimestamp === undefined;
  return isNeeded || known.cleanup.isJournalReleased ? undefined : run(deleteJournal(txn));
};

/** The status names journal and snapshots no more. */
const recordFinal = ({ txn, now }: ReconcileContext): Step | undefined =>
  isCommittedWithSnapshots(txn) && txn.metadata.deletionTimestamp === undefined
    ? run(updateStatus(txn, { isFinal: true, because: readyIn(txn) }, now))
    : undefined;

/**
 * The steps, in their order. Each says what is to be done now, or nothing when it is done; the first that has something to do
 * is what happens next. After the last one the finalizer is removed.
 */
const STEPS: readonly ((context: ReconcileContext) => Step | undefined)[] = [
  // First what ends the terminal phase: a rollback needs everything that is deleted below.
  retryWhenDue,
  // Requests are answered whether or not anything is left to clean up.
  refuseRetry,
  rollbackOnRequest,
  // Recorded before the first snapshot is deleted, so that no rollback begins without all of them.
  endWindow,
  // Before anything is read: a Transaction that rests costs no request.
  restUntilWindowEnds,
  restOnceCleanedUp,
  // Locks are named after the kinds of their targets.
  discoverKinds,
  // It lists the stores.
  knowJournal,
  // Before the cleanup is tried again, which may be refused for as long as the namespace is being deleted.
  knowNamespace,
  leaveToNamespace,
  // All at once: none of them needs another.
  releaseLocksAndStores,
  // Once nothing new can turn up any more, everything is searched again.
  awaitCreates,
  sweep,
  // Of what can be rolled back, only the locks are released: the rest stays until its window ends.
  recordRest,
  // After the stores: those that it does not list are found only where no name before them is free.
  deleteUnneededJournal,
  // After all that the status names is deleted.
  recordFinal,
];

/**
 * Cleans up after the terminal phase: locks, journal, stores that are not needed any more, and finally the
 * finalizer. Then a Failed Transaction may be retried, and a finished one expires.
 *
 * Guarantees: only Leases that we hold are deleted. If a Failed Transaction has an incomplete rollback, its
 *             snapshots, its journal and the Transaction stay.
 */
export const terminalCleanup = (context: ReconcileContext): Step =>
  firstStep(STEPS, context) ?? run(withoutFinalizer(context.txn));

/** Removes the finalizer, and the request that is served by then. */
const withoutFinalizer = (txn: Transaction): ApiCall =>
  removeFinalizer(txn, isRequestFulfilled(txn) && isRequested(txn) ? { [REQUEST_ROLLBACK]: null } : undefined);

/** Leases that are ours, or that have to be read to know. */
const locks = (context: ReconcileContext): readonly Effect[] => {
  const { txn, known, settings } = context;
  // Released before its window was let pass.
  if (txn.status.reversibleUntil !== undefined) return [];
  // The kind may be gone by now: the Transaction itself may have deleted it.
  const recorded = txn.status.items.flatMap(({ lock }, index) =>
    lock === undefined ? [] : [[index, { resource: leases, namespace: lock.namespace, name: lock.lease }] as const],
  );
  const located = [...resolvedTargets(txn, known)].map(
    ([index, place]) => [index, lockPlace(place, settings.controllerNamespace)] as const,
  );
  return [...new Map([...recorded, ...located])].flatMap(([index, lease]): readonly Effect[] => {
    const observed = changeIn(known, index).lock;
    if (observed?.type === "held") return releaseLock(context, index, lease);
    if (observed?.type === "theirs" || observed?.type === "lost" || known.cleanup.locks.has(index)) return [];
    const looking = verifyLock(index, lease);
    return [observed?.type === "impossible" ? unlessDenied(looking) : { ...looking, untilDone: true }];
  });
};

/**
 * A lock whose creation was rejected may exist if the rejection did not come from the API server. Without the
 * permission to read it, there is none.
 */
const unlessDenied = (looking: ApiCall): ApiCall => ({
  ...looking,
  untilDone: "unless-denied",
  folds: [...looking.folds, { type: "lock-unread" }],
});

/**
 * Whether something may still have to be restored. A Transaction that was deleted while it was active leaves
 * applied changes.
 */
const isLeft = ({ phase, items }: Transaction["status"]): boolean =>
  phase === "Failed" && items.some((item) => isUnsettled(item) || item.state.type === "committed");

/** Releases or deletes the snapshots, if they are not needed any more. */
const remains = ({ txn, known }: ReconcileContext): readonly ApiCall[] => {
  const { phase } = txn.status;
  const left = isLeft(txn.status);
  const isGoing = txn.metadata.deletionTimestamp !== undefined;
  if (isReversible(txn) && !isGoing) return [];
  // After RolledBack they stay, owned by the Transaction: they are deleted with it.
  const goes = phase === "Committed" || (phase === "Failed" && !left);
  const to = phase === "RolledBack" ? "owned" : left && isGoing ? "orphaned" : "kept";
  return allStores(txn, journalIn(known)).flatMap((ref) =>
    goes ? deleteStore(txn, known, ref) : releaseStore(txn, known, ref, to),
  );
};

/** As on a Job: https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/ */
const expire = ({ txn, known, now, settings }: ReconcileContext): Step => {
  const { ttlSecondsAfterFinished: ttl = settings.defaultTtl } = txn.spec;
  const completed = fromTimestamp(txn.status.completedAt);
  const going = txn.metadata.deletionTimestamp !== undefined;
  const kept = going || known.cleanup.isExpired || txn.status.items.some(isUnsettled);
  if (ttl === undefined || completed === undefined || kept) return done;
  const until = completed + ttl * 1000;
  return now < until ? wait(until, "it is deleted then") : run(deleteExpired(txn, { type: "expired" }));
};
