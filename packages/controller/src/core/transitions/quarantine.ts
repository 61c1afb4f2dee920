// Stops a Transaction whose state cannot be read, and reports why.
import { type Condition, cut, FINALIZER, ORPHANED_LABEL, type Transaction } from "@janus/api";
import { type ApiCall, done, type Effect, run, type Step } from "../state/effect.ts";
import { type Instant, toTimestamp, leases } from "@janus/types";
import { journalPlace } from "../state/journal.ts";
import { readJournal } from "../state/journal-requests.ts";
import { searchStores } from "../snapshots/unrecorded-stores.ts";
import { verifyLock, releaseLock } from "../locks/lock-requests.ts";
import { ownPlace, removeFinalizer } from "../state/status-update.ts";
import { UNREADABLE } from "../state/conditions.ts";
import { changeIn } from "../state/observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { releaseStore } from "../snapshots/release-stores.ts";

/**
 * A Transaction whose state cannot be read: nothing is done, and it says so.
 *
 * Guarantees: no target is modified, nothing is deleted that may be needed for a restore, and its phase stays.
 *             Its locks stay, since its changes may be partly applied: Transactions with the same targets wait,
 *             all others proceed. Once it is repaired, it resumes. Deleting it never hangs: that leaves applied
 *             changes, as with deletionPolicy Release, whatever its own is; snapshots and journal are kept,
 *             labelled as orphaned.
 *
 * @param context its Transaction is what could be decoded
 */
export const quarantine = (context: ReconcileContext, why: string): Step => {
  const { txn, now } = context;
  const { deletionTimestamp, finalizers: names = [] } = txn.metadata;
  if (deletionTimestamp !== undefined) return names.includes(FINALIZER) ? releaseUnread(context) : done;
  const { namespace, name } = txn.metadata;
  const repair =
    txn.spec.changes.length === 0
      ? "its spec cannot be repaired"
      : `repair it (kubectl edit txn ${name} -n ${namespace} --subresource=status)`;
  const message = `the Transaction cannot be read and is not processed: ${cut(why, 400)}; ${repair}, or delete it: applied changes stay, and its snapshots are kept with the label ${ORPHANED_LABEL}`;
  return isReported(context, UNREADABLE, message) ? done : reporting(txn, UNREADABLE, message, now);
};

/** Whether the conditions have this message, or could not be updated. */
export const isReported = ({ txn, known }: ReconcileContext, reason: string, message: string): boolean =>
  known.cleanup.reported.has(message) ||
  txn.status.conditions.some(
    (condition) => condition.type === "Stalled" && condition.reason === reason && condition.message === message,
  );

/** Reports it in the conditions, and in an event. */
export const reporting = (txn: Transaction, reason: string, message: string, now: Instant): Step => ({
  type: "run",
  effects: [reportProblem(txn, reason, message, now)],
  events: [{ type: "Warning", reason: "RecoveryBlocked", message }],
});

/** Writes only the conditions: everything else may still be needed. */
const reportProblem = (txn: Transaction, reason: string, message: string, now: Instant): ApiCall => {
  const condition = (type: string, status: Condition["status"]): Condition => {
    const former = txn.status.conditions.find((one) => one.type === type);
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: former?.status === status ? former.lastTransitionTime : toTimestamp(now),
      observedGeneration: txn.metadata.generation,
    };
  };
  const others = txn.status.conditions.filter(({ type }) => type !== "Ready" && type !== "Stalled");
  return {
    purpose: "report-unreadable",
    as: "controller",
    call: {
      verb: "mergePatch",
      place: ownPlace(txn),
      subresource: "status",
      body: {
        metadata: { uid: txn.metadata.uid, resourceVersion: txn.metadata.resourceVersion },
        status: { conditions: [condition("Ready", "False"), condition("Stalled", "True"), ...others] },
      },
    },
    // Also if it was rejected: the API server may not accept any status for such an object. The event is recorded
    // anyway.
    folds: [{ type: "problem-reported", message }],
  };
};

/** Releases locks and finalizer; snapshots and journal stay. */
export const releaseUnread = (context: ReconcileContext): Step => {
  const { txn, known } = context;
  if (known.journal === undefined) return run(readJournal(txn));
  // Only those with our uid: the status may contain anything.
  const searched = searchStores(
    context,
    txn.status.snapshots.map(({ name }) => name),
  );
  if (searched.type === "searching") return run(...searched.requests);
  const { stores } = searched;
  const left = [
    ...stores.flatMap((ref) => releaseStore(txn, known, ref, "orphaned")),
    ...(known.cleanup.isJournalReleased ? [] : [orphanJournal(txn)]),
    ...locks(context),
  ];
  if (left.length > 0) return run(...left);
  const kept = stores.map(({ kind, name }) => `${kind} ${name}`).join(", ") || "no snapshot";
  const message = `deleted, although it could not be read: applied changes stay, the former state is kept in ${kept}`;
  return run({ ...removeFinalizer(txn), events: [{ type: "Warning", reason: "RecoveryBlocked", message }] });
};

/** Kept, since it has the applied changes, for a repair by hand. */
const orphanJournal = (txn: Transaction): ApiCall => ({
  purpose: "journal",
  as: "controller",
  call: {
    verb: "mergePatch",
    place: journalPlace(txn),
    body: { metadata: { labels: { [ORPHANED_LABEL]: "true" } } },
  },
  untilDone: true,
  folds: [{ type: "journal-released" }],
});

/**
 * The locks in the status. Any other one is taken over at once by the next Transaction that needs it, since its
 * holder is gone.
 */
const locks = (context: ReconcileContext): readonly Effect[] => {
  const { txn, known } = context;
  return txn.status.items.flatMap(({ lock }, index): readonly Effect[] => {
    if (lock === undefined || known.cleanup.locks.has(index)) return [];
    const lease = { resource: leases, namespace: lock.namespace, name: lock.lease };
    const observed = changeIn(known, index).lock;
    if (observed?.type === "held") return releaseLock(context, index, lease);
    return observed === undefined || observed.type === "taken"
      ? [{ ...verifyLock(index, lease), untilDone: true }]
      : [];
  });
};
