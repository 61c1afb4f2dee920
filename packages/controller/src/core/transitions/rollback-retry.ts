// Retries an incomplete rollback, automatically or on request.
import { journalIn } from "../state/observations.ts";
import { FINALIZER, type Item, RETRY_ROLLBACK, type Transaction } from "@janus/api";
import { run, type Step, type EventSpec } from "../state/effect.ts";
import { fromTimestamp, type Instant } from "@janus/types";
import { checkpoint, readJournal } from "../state/journal-requests.ts";
import { addFinalizer, updateStatus, removeAnnotation } from "../state/status-update.ts";
import { readyIn, RETRYING } from "../state/conditions.ts";
import type { Journal } from "../state/journal.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/** How often a Failed Transaction is retried automatically. After that, a retry has to be requested. */
export const MAX_RETRIES = 5;

/** States of items that may still have to be restored. */
const UNSETTLED: readonly string[] = ["rollback-failed", "unknown"];

export const isUnsettled = ({ state }: Item): boolean => UNSETTLED.includes(state.type);

/** A created object was left there on purpose: the rollback of its change is retried only on request. */
export const needsRequest = ({ notes }: Journal, index: number): boolean => notes.get(index)?.retryOnRequest === true;

export const isAskedFor = ({ metadata }: Transaction): boolean => metadata.annotations?.[RETRY_ROLLBACK] !== undefined;

/**
 * When a Failed Transaction is retried: at once on request, automatically with delays that grow fourfold.
 * `undefined`: never; there is nothing to restore, or nothing to restore it from.
 */
export const nextRetryAt = ({ txn, settings }: ReconcileContext): Instant | undefined => {
  const { phase, items, conditions, journal, recovery } = txn.status;
  if (phase !== "Failed" || journal === undefined || txn.metadata.deletionTimestamp !== undefined) return undefined;
  if (!items.some(isUnsettled)) return undefined;
  if (isAskedFor(txn)) return 0;
  const attempts = recovery?.attempts ?? 0;
  const failed = fromTimestamp(conditions.find(({ type }) => type === "Failed")?.lastTransitionTime);
  return attempts >= MAX_RETRIES || failed === undefined ? undefined : failed + settings.recoveryDelay * 4 ** attempts;
};

/**
 * Retries the rollback of a Failed Transaction: first the finalizer, then the journal is set back to where the
 * rollback began, with only the unsettled items to be done, and then the phase. After a crash in between, the
 * retry is still due.
 */
export const retryRollback = (context: ReconcileContext): Step => {
  const { txn, known, now } = context;
  if (!(txn.metadata.finalizers ?? []).includes(FINALIZER)) return run(addFinalizer(txn));
  const journal = journalIn(known);
  if (known.journal === undefined) return run(readJournal(txn));
  const attempts = (txn.status.recovery?.attempts ?? 0) + (isAskedFor(txn) ? 0 : 1);
  if (journal === undefined || journal.position.direction !== "back") {
    const message = "the journal was deleted or modified: restore the targets in status.items by hand";
    const isTold = txn.status.conditions.some((condition) => condition.message === message);
    if (isTold && isAskedFor(txn)) return run(removeAnnotation(txn));
    const blocked = { type: "Warning", reason: "RecoveryBlocked", message } as const;
    const recovery = { attempts: MAX_RETRIES };
    const because = { reason: "RecoveryBlocked", message };
    return run(updateStatus(txn, { recovery, because }, now, blocked));
  }
  const isDue = (item: Item, index: number): boolean =>
    isUnsettled(item) && (isAskedFor(txn) || !needsRequest(journal, index));
  const unsettled = txn.status.items.flatMap((item, index) => (isDue(item, index) ? [index] : []));
  if (unsettled.length === 0)
    return run(updateStatus(txn, { recovery: { attempts: MAX_RETRIES }, because: readyIn(txn) }, now));
  const { reached } = journal.position;
  const last = Math.max(...unsettled);
  const cleared = unsettled.every((index) => !journal.notes.has(index));
  if (!cleared || journal.position.cursor !== last)
    return run(
      checkpoint(txn, journal, {
        position: { direction: "back", cursor: last, reached: Math.max(reached, last + 1), since: now },
        unnoted: unsettled,
        doubted: unsettled.filter((index) => txn.status.items[index]?.state.type === "unknown"),
      }),
    );
  const message = isAskedFor(txn)
    ? `retry requested by the annotation ${RETRY_ROLLBACK}`
    : `attempt ${attempts} of ${MAX_RETRIES} to roll back`;
  const items = txn.status.items.map(
    (item, index): Item => (isDue(item, index) ? { ...item, state: asApplied(item) } : item),
  );
  const because = { reason: RETRYING, message };
  const event: EventSpec = { type: "Normal", ...because };
  const recorded = updateStatus(txn, { phase: "RollingBack", recovery: { attempts }, items, because }, now, event);
  return run({ ...recorded, folds: [{ type: "rollback-restarted", at: now }] });
};

/**
 * A retry that is requested where there is nothing to retry: it is answered by an event and removed. If it stayed, it would be
 * taken for a request once the Transaction has failed.
 *
 * @returns undefined if there is no such request, or it is served
 */
export const refuseRetry = (context: ReconcileContext): Step | undefined => {
  const { txn } = context;
  if (!isAskedFor(txn) || txn.metadata.deletionTimestamp !== undefined || nextRetryAt(context) !== undefined)
    return undefined;
  const message = `a retry of the rollback was requested by the annotation ${RETRY_ROLLBACK}, but ${whyNot(txn)}`;
  const event: EventSpec = { type: "Warning", reason: "RetryRefused", message };
  return run({ ...removeAnnotation(txn), events: [event] });
};

const whyNot = ({ spec, status: { phase, items } }: Transaction): string => {
  if (phase === "Pending") return `no changes are applied: the Transaction is ${spec.lifecycle}`;
  if (phase === "Failed" && items.some(isUnsettled))
    return "it has no journal to roll back from: restore the targets in status.items by hand";
  return `the Transaction is ${phase}: no item is left to roll back`;
};

/** The state of an item that is to be rolled back again, as if it had just been reached. */
const asApplied = ({ state }: Item): Item["state"] => {
  if (state.type === "rollback-failed") {
    const created = state.created === undefined ? {} : { created: state.created };
    return { type: "committed", before: state.before, ...created };
  }
  return state.type === "unknown" ? { type: "committed", before: state.before } : state;
};
