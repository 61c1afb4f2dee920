import { FINALIZER, REQUEST_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { allStores } from "../snapshots/prior-state.ts";
import { type ApiCall, done, type Effect, run, type Step, wait } from "../state/effect.ts";
import { fromTimestamp, type Instant, toTimestamp } from "../kubernetes/time.ts";
import { deleteJournal, readJournal } from "../state/journal-requests.ts";
import { readyIn } from "../state/conditions.ts";
import { changeIn, journalIn, reset } from "../state/observations.ts";
import { unrecordedStores } from "../snapshots/unrecorded-stores.ts";
import { isRequested, readNamespace } from "../transitions/stop-request.ts";
import { lockPlace, observeLock, releaseLock } from "../locks/lock-requests.ts";
import { leases } from "@janus/types";
import { discoveries, resolvedTargets } from "../state/target-resolution.ts";
import { isRequestFulfilled, rollbackOnRequest } from "../transitions/rollback-on-request.ts";
import { isUnsettled, nextRetryAt, refuseRetry, retryRollback } from "../transitions/rollback-retry.ts";
import { hasSnapshots, isResting, isReversible, windowEnd } from "../state/rollback-window.ts";
import { expire as deleteExpired, removeFinalizer, updateStatus } from "../state/status-update.ts";
import { releaseStore, deleteStore } from "../snapshots/release-stores.ts";
import { POLL_INTERVAL, inFlightWindow, type ReconcileContext } from "../state/reconcile-context.ts";

/**
 * Cleans up after the terminal phase: locks, journal, stores that are not needed any more, and finally the
 * finalizer. Then a Failed Transaction may be retried, and a finished one expires.
 *
 * Guarantees: only Leases that we hold are deleted. If a Failed Transaction has an incomplete rollback, its
 *             snapshots, its journal and the Transaction stay.
 */
export const terminalCleanup = (context: ReconcileContext): Step => {
  const { txn, known, now, settings } = context;
  const mine = txn.metadata.finalizers ?? [];
  const due = nextRetryAt(context);
  if (due !== undefined && due <= now) return retryRollback(context);
  const requested = refuseRetry(context) ?? rollbackOnRequest(context);
  if (requested !== undefined) return requested;
  const staysReversible = isReversible(txn) && txn.metadata.deletionTimestamp === undefined;
  if (staysReversible && now >= windowEnd(txn)) return run(endWindow(txn, now));
  if (staysReversible && isResting(txn)) return wait(windowEnd(txn), "it can be rolled back until then");
  if (!mine.includes(FINALIZER)) return due === undefined ? expire(context) : wait(due, "the rollback is retried then");
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  if (known.journal === undefined && !known.released.has("journal")) return run(readJournal(txn));
  const asking = askForNamespace(context);
  if (asking !== undefined) return run(asking);
  if (goesAnyway(context)) {
    const holding = [...remains(context), ...unrecordedStores(context)].filter(({ call }) => call.verb !== "delete");
    return run(...(holding.length > 0 ? holding : [withoutFinalizer(txn)]));
  }
  const pending = [...locks(context), ...remains(context), ...unrecordedStores(context)];
  if (pending.length > 0) return run(...pending);
  const quietAt = lastCreate(context) + inFlightWindow(settings);
  if (now < quietAt) return wait(quietAt, "a create of Janus that was not answered may still take effect");
  if (!known.released.has(SWEPT) && Number.isFinite(quietAt)) return run(sweep(context));
  if (staysReversible) return run(rest(txn, now));
  // Deleted last: it lists the names of stores.
  if (journalGoes(txn) && !known.released.has("journal")) return run(deleteJournal(txn));
  if (hasSnapshots(txn) && txn.metadata.deletionTimestamp === undefined)
    return run(updateStatus(txn, { isFinal: true, because: readyIn(txn) }, now));
  return run(withoutFinalizer(txn));
};

/** Also without the request that is served by then. */
const withoutFinalizer = (txn: ReconcileContext["txn"]): ApiCall =>
  removeFinalizer(txn, isRequestFulfilled(txn) && isRequested(txn) ? { [REQUEST_ROLLBACK]: null } : undefined);

/** Nothing is left to do before its window ends, and nothing of it has to be looked at again until then. */
const rest = (txn: ReconcileContext["txn"], now: Instant): ApiCall =>
  updateStatus(txn, { reversibleUntil: toTimestamp(windowEnd(txn)), because: readyIn(txn) }, now);

/** Recorded before the first snapshot is deleted, so that no request is served without all of them. */
const endWindow = (txn: ReconcileContext["txn"], now: Instant): ApiCall => {
  const { message: applied } = txn.status.conditions.find(({ type }) => type === "Committed") ?? readyIn(txn);
  const message = `it could only be rolled back until ${toTimestamp(windowEnd(txn))}`;
  const reversible = { isReversible: false, reason: "WindowPassed", message } as const;
  return updateStatus(txn, { because: { ...readyIn(txn), message: applied }, reversible }, now);
};

/** If it was deleted and cannot clean up: whether its namespace is being deleted, too. */
const askForNamespace = (context: ReconcileContext): ApiCall | undefined => {
  const { txn, known, now } = context;
  const { namespace, retryingSince: hindered } = known;
  if (hindered === undefined || txn.metadata.deletionTimestamp === undefined) return undefined;
  return namespace === undefined || now >= namespace.readAt + POLL_INTERVAL ? readNamespace(context) : undefined;
};

/**
 * If the namespace is being deleted, it takes the rest with it, and the lock of a deleted Transaction counts as
 * free: so the finalizer does not wait for them. But stores with our finalizer would block the namespace
 * forever, and only this Transaction says why. They are released first, however long that takes.
 */
const goesAnyway = ({ txn, known }: ReconcileContext): boolean =>
  known.retryingSince !== undefined &&
  txn.metadata.deletionTimestamp !== undefined &&
  known.namespace?.isGoing === true;

/** Everything was searched once more after no create could take effect any more. */
const SWEPT = "swept";

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

/** Starts the cleanup once more, with nothing counted as released that may have been created since. */
const sweep = ({ txn }: ReconcileContext): ApiCall => {
  const read = readJournal(txn);
  return {
    ...read,
    onAnswer: (known, answer, now, sent) => ({
      ...read.onAnswer({ ...reset(known, known.since), released: new Set([SWEPT]) }, answer, now, sent),
    }),
  };
};

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
    if (observed?.type === "theirs" || observed?.type === "lost" || known.released.has(`lock ${index}`)) return [];
    const looking = observeLock(context, index, lease, true);
    return [observed?.type === "impossible" ? unlessDenied(index, looking) : { ...looking, untilDone: true }];
  });
};

/**
 * A lock whose creation was rejected may exist if the rejection did not come from the API server. Without the
 * permission to read it, there is none.
 */
const unlessDenied = (index: number, looking: ApiCall): ApiCall => ({
  ...looking,
  untilDone: "unless-denied",
  onAnswer: (known, answer, ...when) => {
    const learned = looking.onAnswer(known, answer, ...when);
    return E.isRight(answer) ? learned : { ...learned, released: new Set([...learned.released, `lock ${index}`]) };
  },
});

/**
 * Whether something may still have to be restored. A Transaction that was deleted while it was active leaves
 * applied changes.
 */
const isLeft = ({ phase, items }: ReconcileContext["txn"]["status"]): boolean =>
  phase === "Failed" && items.some((item) => isUnsettled(item) || item.state.type === "committed");

/** Also if no journal is recorded: it may have been created just before the Transaction failed. */
const journalGoes = ({ metadata, status }: ReconcileContext["txn"]): boolean =>
  !isLeft(status) || metadata.deletionTimestamp !== undefined;

/** Releases or deletes the snapshots, if they are not needed any more. */
const remains = ({ txn, known }: ReconcileContext): readonly ApiCall[] => {
  const { phase } = txn.status;
  const left = isLeft(txn.status);
  const isGoing = txn.metadata.deletionTimestamp !== undefined;
  if (isReversible(txn) && !isGoing) return [];
  // After RolledBack, they are kept, and owned by the Transaction.
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
  const kept = going || known.released.has(EXPIRED) || txn.status.items.some(isUnsettled);
  if (ttl === undefined || completed === undefined || kept) return done;
  const until = completed + ttl * 1000;
  return now < until ? wait(until, "it is deleted then") : run(remove(txn));
};

const EXPIRED = "transaction";

const remove = (txn: ReconcileContext["txn"]): ApiCall =>
  deleteExpired(txn, (known) => ({ ...known, released: new Set([...known.released, EXPIRED]) }));
