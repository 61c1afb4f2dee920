// Starts the rollback of a finished Transaction when a user requests it.
import { cut, FINALIZER, REQUEST_ROLLBACK, RETRY_ROLLBACK, type Transaction } from "@janus/api";
import { cannotBeUndone, firstIrreversible } from "../state/irreversible-deletions.ts";
import { run, type EventSpec, type Step } from "../state/effect.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { isReversible, REVERSIBLE, windowEnd } from "../state/rollback-window.ts";
import { readyIn } from "../state/conditions.ts";
import { annotate, updateStatus } from "../state/status-update.ts";
import { isUnsettled } from "./rollback-retry.ts";
import { isRequested, requestedRollback } from "./stop-request.ts";

/**
 * A rollback that is requested of a finished Transaction: within its rollbackWindow it begins, otherwise the request is
 * answered and removed.
 *
 * Guarantees: the end of the window is recorded before anything is deleted, and the request is decided on the Transaction as it
 *             was read, by a write with its version as precondition: either it is rolled back with all its snapshots, or not at
 *             all. Each request is answered by an event and in the message of Ready.
 *
 * @returns undefined if there is no such request, or it is served already
 */
export const rollbackOnRequest = (context: ReconcileContext): Step | undefined => {
  const { txn, now } = context;
  if (!isRequested(txn) || txn.metadata.deletionTimestamp !== undefined || isRequestFulfilled(txn)) return undefined;
  if (isReversible(txn)) return now < windowEnd(txn) ? rollBack(context) : undefined;
  return refuse(context);
};

const RollbackRequested = "RollbackRequested";

/** The locks are acquired again, and the targets read: what was observed before is outdated. */
const rollBack = ({ txn, now }: ReconcileContext): Step => {
  const because = { reason: RollbackRequested, message: cut(requestedRollback(txn), 1024) };
  const event: EventSpec = { type: "Normal", ...because };
  const recorded = updateStatus(
    txn,
    { phase: "RollingBack", because, reversible: { isReversible: false, ...because, reason: RollbackRequested } },
    now,
    event,
  );
  return run({ ...recorded, folds: [{ type: "rollback-restarted", at: now }] });
};

/**
 * Whether the annotation is the request because of which it was rolled back, or was not executed. It is removed together with
 * the finalizer; one that is set after that is a new request.
 */
export const isRequestFulfilled = ({
  metadata: { finalizers = [] },
  status: { phase, conditions },
}: Transaction): boolean =>
  phase !== "Committed" &&
  finalizers.includes(FINALIZER) &&
  conditions.some(({ type, reason }) => type === "Committed" && reason === RollbackRequested);

/**
 * A rollback that is requested of a Draft, or of a proposed Transaction: it is answered by an event and removed. If it stayed,
 * it would be taken for one of the execution, and fail a Transaction that is approved later.
 *
 * @returns undefined if there is no such request
 */
export const refuseForDraft = ({ txn }: ReconcileContext): Step | undefined => {
  if (!isRequested(txn)) return undefined;
  const message = `${requestedRollback(txn)}, but no changes are applied: the Transaction is ${txn.spec.lifecycle}`;
  const event: EventSpec = { type: "Warning", reason: "RollbackRefused", message };
  return run({ ...annotate(txn, { [REQUEST_ROLLBACK]: null }), events: [event] });
};

const refuse = ({ txn, now }: ReconcileContext): Step => {
  const answer = cut(`${requestedRollback(txn)}, but ${whyNot(txn)}`, 800);
  const { reason, message } = readyIn(txn);
  if (message.includes(answer)) {
    const event: EventSpec = { type: "Warning", reason: "RollbackRefused", message: answer };
    return run({ ...annotate(txn, { [REQUEST_ROLLBACK]: null }), events: [event] });
  }
  // The other conditions keep the cause of the phase.
  const { message: why = message } = txn.status.conditions.find(({ type }) => type === "Failed") ?? {};
  return run(
    updateStatus(txn, { because: { reason, message: why, readyMessage: `${cut(message, 1200)}; ${answer}` } }, now),
  );
};

/** Why a finished Transaction is not rolled back. */
const whyNot = (txn: Transaction): string => {
  const { spec, status } = txn;
  if (status.phase === "RolledBack") return "it is RolledBack already";
  if (status.phase === "Failed")
    return status.items.some(isUnsettled)
      ? `it is Failed: retry its rollback with the annotation ${RETRY_ROLLBACK}`
      : "it is Failed, and no changes are applied";
  const irreversible = firstIrreversible(txn, spec.changes.length)?.target;
  if (irreversible !== undefined) return cannotBeUndone(irreversible);
  const passed = status.conditions.find(({ type }) => type === REVERSIBLE);
  return passed === undefined
    ? "it has no spec.rollbackWindow: its snapshots were deleted when it was Committed"
    : passed.message;
};
