import { FINALIZER } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { allStores } from "../snapshots/prior-state.ts";
import { type ApiCall, done, type Effect, run, type Step, wait } from "../state/effect.ts";
import { fromTimestamp, type Instant } from "../kubernetes/time.ts";
import { deleteJournal, readJournal } from "../state/journal-requests.ts";
import { changeIn, journalIn, reset } from "../state/observations.ts";
import { unrecordedStores } from "../snapshots/unrecorded-stores.ts";
import { readNamespace } from "../transitions/stop-request.ts";
import { lockPlace, observeLock, release } from "../locks/lock-requests.ts";
import { leases } from "../kubernetes/kube-object.ts";
import { discoveries, resolvedTargets } from "../state/target-resolution.ts";
import { isUnsettled, retryRollback, nextRetryAt } from "../transitions/rollback-retry.ts";
import { setFinalizers, ownPlace } from "../state/status-update.ts";
import { releaseStore, deleteStore } from "../snapshots/release-stores.ts";
import { POLL_INTERVAL, inFlightWindow, type ReconcileContext } from "../state/reconcile-context.ts";

/**
 * Cleans up after the terminal status: locks, journal, stores that nothing will be restored from, and last the finalizer.
 * Then only time or a person brings a Transaction back: a Failed one is tried again, a finished one expires.
 *
 * Guarantees: only Leases that we hold are deleted; of a Failed Transaction that has still something to restore, the
 *             snapshots and the journal stay, and so does the Transaction.
 */
export const terminalCleanup = (context: ReconcileContext): Step => {
  const { txn, known, now, settings } = context;
  const mine = txn.metadata.finalizers ?? [];
  const due = nextRetryAt(context);
  if (due !== undefined && due <= now) return retryRollback(context);
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
  // Only now: it says under which names there may be stores.
  if (journalGoes(txn) && !known.released.has("journal")) return run(deleteJournal(txn));
  return run(withoutFinalizer(txn));
};

const withoutFinalizer = (txn: ReconcileContext["txn"]): ApiCall =>
  setFinalizers(
    txn,
    (txn.metadata.finalizers ?? []).filter((name) => name !== FINALIZER),
  );

/** Where it was deleted, and cannot clean up: is its namespace being deleted, too? */
const askForNamespace = (context: ReconcileContext): ApiCall | undefined => {
  const { txn, known, now } = context;
  const { namespace, retryingSince: hindered } = known;
  if (hindered === undefined || txn.metadata.deletionTimestamp === undefined) return undefined;
  return namespace === undefined || now >= namespace.readAt + POLL_INTERVAL ? readNamespace(context) : undefined;
};

/**
 * What cannot be cleaned up goes with the namespace that is being deleted, and a lock is no longer one when its Transaction is
 * gone: so the finalizer holds up nothing for them. Stores that bear a finalizer of ours are another matter: they would keep
 * the namespace for ever, and this Transaction is all that says so; of them it lets go first, however long that takes.
 */
const goesAnyway = ({ txn, known }: ReconcileContext): boolean =>
  known.retryingSince !== undefined &&
  txn.metadata.deletionTimestamp !== undefined &&
  known.namespace?.isGoing === true;

/** Everything was looked for once more when nothing could turn up any more. */
const SWEPT = "swept";

/**
 * When the last create of a Lease, a store or the journal went out whose outcome this process does not know. What it took over
 * from a former process counts as sent just before.
 */
const lastCreate = ({ txn, known }: ReconcileContext): Instant => {
  const tookOver = txn.status.startedAt === undefined || known.begun ? Number.NEGATIVE_INFINITY : known.since;
  return Math.max(tookOver, known.unansweredCreate ?? Number.NEGATIVE_INFINITY);
};

/** Begins the clean-up once more, with nothing taken for released that may have been made since. */
const sweep = ({ txn }: ReconcileContext): ApiCall => {
  const read = readJournal(txn);
  return {
    ...read,
    onAnswer: (known, answer, now, sent) => ({
      ...read.onAnswer({ ...reset(known, known.since), released: new Set([SWEPT]) }, answer, now, sent),
    }),
  };
};

/** Leases that are ours, or that have to be looked at to know. */
const locks = (context: ReconcileContext): readonly Effect[] => {
  const { txn, known, settings } = context;
  // A kind may be gone by now: the Transaction itself may have deleted it.
  const recorded = txn.status.items.flatMap(({ lock }, index) =>
    lock === undefined ? [] : [[index, { resource: leases, namespace: lock.namespace, name: lock.lease }] as const],
  );
  const located = [...resolvedTargets(txn, known)].map(
    ([index, place]) => [index, lockPlace(place, settings.controllerNamespace)] as const,
  );
  return [...new Map([...recorded, ...located])].flatMap(([index, lease]): readonly Effect[] => {
    const observed = changeIn(known, index).lock;
    if (observed?.type === "held") return release(context, index, lease);
    if (observed?.type === "theirs" || observed?.type === "lost" || known.released.has(`lock ${index}`)) return [];
    const looking = observeLock(context, index, lease, true);
    return [observed?.type === "impossible" ? unlessDenied(index, looking) : { ...looking, untilDone: true }];
  });
};

/** A lock that was refused is there all the same, where the refusal was not the API server's. Who may not look has none. */
const unlessDenied = (index: number, looking: ApiCall): ApiCall => ({
  ...looking,
  untilDone: "unless-denied",
  onAnswer: (known, answer, ...when) => {
    const learned = looking.onAnswer(known, answer, ...when);
    return E.isRight(answer) ? learned : { ...learned, released: new Set([...learned.released, `lock ${index}`]) };
  },
});

/** Whether there is something that may have to be restored; what was deleted while it was active leaves what is committed. */
const isLeft = ({ phase, items }: ReconcileContext["txn"]["status"]): boolean =>
  phase === "Failed" && items.some((item) => isUnsettled(item) || item.state.type === "committed");

/** Also where no journal is recorded: it may have been made just before the Transaction failed. */
const journalGoes = ({ metadata, status }: ReconcileContext["txn"]): boolean =>
  !isLeft(status) || metadata.deletionTimestamp !== undefined;

/** Snapshots, as far as nothing will be restored from them. */
const remains = ({ txn, known }: ReconcileContext): readonly ApiCall[] => {
  const { phase } = txn.status;
  const left = isLeft(txn.status);
  const isGoing = txn.metadata.deletionTimestamp !== undefined;
  // On RolledBack they are kept for a look, and owned by the Transaction.
  const goes = phase === "Committed" || (phase === "Failed" && !left);
  const to = phase === "RolledBack" ? "owned" : left && isGoing ? "orphaned" : "kept";
  return allStores(txn, journalIn(known)).flatMap((ref) =>
    goes ? deleteStore(txn, known, ref) : releaseStore(txn, known, ref, to),
  );
};

/** As on a Job: https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/ */
const expire = ({ txn, known, now }: ReconcileContext): Step => {
  const { ttlSecondsAfterFinished: ttl } = txn.spec;
  const completed = fromTimestamp(txn.status.completedAt);
  const going = txn.metadata.deletionTimestamp !== undefined;
  const kept = going || known.released.has(EXPIRED) || txn.status.items.some(isUnsettled);
  if (ttl === undefined || completed === undefined || kept) return done;
  const until = completed + ttl * 1000;
  return now < until ? wait(until, "it is deleted then") : run(remove(txn));
};

const EXPIRED = "transaction";

const remove = (txn: ReconcileContext["txn"]): ApiCall => ({
  purpose: "expire",
  as: "controller",
  call: {
    verb: "delete",
    place: ownPlace(txn),
    preconditions: { uid: txn.metadata.uid, resourceVersion: txn.metadata.resourceVersion },
  },
  untilDone: true,
  onAnswer: (known) => ({ ...known, released: new Set([...known.released, EXPIRED]) }),
});
