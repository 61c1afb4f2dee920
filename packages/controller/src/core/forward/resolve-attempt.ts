// Decides what follows a write that was not answered with success, by the live target.
import { deletes, type ResolvedChange } from "@janus/api";
import { recordedBefore } from "../snapshots/prior-state.ts";
import { run, type Step } from "../state/effect.ts";
import type { KubeObject } from "@janus/types";
import { modifiedBy, modifiedSinceBy } from "../merge/field-managers.ts";
import type { Path } from "../merge/field-set.ts";
import { showPaths } from "../merge/show-path.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { changeIn, forwardIn } from "../state/observations.ts";
import { type AbortCause, type Attempt, unansweredSince } from "../state/forward-observations.ts";
import type { TargetObservation } from "../state/target-observations.ts";
import { terminatingMessage, type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import { refusedGrants, regranting } from "../preflight/regranting.ts";
import { lostForGood } from "../preflight/irreversible-changes.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { renewSnapshot } from "./retake-snapshot.ts";
import type { InDoubtVerdict } from "./in-doubt.ts";
import { deadline, inFlightWindow } from "../state/reconcile-context.ts";
import { ENABLING_TIME } from "../state/resolved-changes.ts";
import { abort } from "../transitions/abort.ts";
import type { ChangeContext } from "./change-context.ts";
import { readChangedTarget, refusalOf } from "./read-target.ts";
import { isChangedSinceApproval } from "./changed-since-approval.ts";
import { nextChange } from "./next-change.ts";
import { lossOf, readOtherVersions } from "../state/other-versions.ts";
import { mustConceal } from "../state/sensitive-kinds.ts";
import { waiting } from "../state/status-progress.ts";
import { irreversibleReason, reasonToStop } from "./reason-to-stop.ts";
import { onceSettled, send } from "./send-change.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** An attempt to make a change, of which the target has to tell what has become. */
interface Attempted extends ChangeContext {
  readonly attempt: Attempt;
  readonly seen: TargetObservation;
}

/**
 * Handles a write that was not simply answered with success, by what the target shows; of each verdict, the first
 * that applies:
 *
 *   any         an Update or Patch, and the target is being deleted   → abort: nothing survives in it
 *   applied     a Delete that was rejected, since there was no target → abort: another client deleted it
 *   applied     any other                                             → the next change
 *   terminating                                                       → wait until it is gone
 *   not-applied rejected with 409, and the target has moved           → a new snapshot, and again
 *   not-applied rejected otherwise                                    → again for a while, or abort
 *   not-applied not answered, and the target has moved                → a new snapshot, and again
 *   not-applied not answered, an Update, Patch or Delete              → again: its precondition stops the one in flight
 *   not-applied not answered, a Create                                → wait until it can no longer take effect, then again
 *   conflict    the target is gone                                    → abort: another client deleted it
 *   conflict    in fields of the change, or it may be applied         → abort
 *   conflict    in other fields                                       → a new snapshot, and again
 *   unknown     a Delete that was accepted                            → the next change: the object is gone
 *   unknown     any other                                             → abort
 */
export const resolveAttempt = (
  changeContext: ChangeContext,
  attempt: Attempt,
  verdict: InDoubtVerdict,
  seen: TargetObservation,
): Step => {
  const { context, journal, change, place } = changeContext;
  const attempted: Attempted = { ...changeContext, attempt, seen };
  if (isEdit(change) && seen.object?.metadata.deletionTimestamp !== undefined) {
    const message = terminatingMessage(place, seen.object);
    return abort(context, journal, conflictCause(message, fateOf(verdict, mayBeApplied(attempt))));
  }
  switch (verdict.type) {
    case "applied":
      return isTheirDeletion(attempted)
        ? abort(context, journal, conflictCause(deletedMessage(place)))
        : run(nextChange(context, journal, changeContext, verdict.created));
    case "terminating":
      return awaitGone(attempted, verdict.finalizers);
    case "not-applied":
      return sendAgain(attempted, verdict.object);
    case "conflict":
      return resolveConflict(attempted, verdict);
    case "unknown":
      return resolveUnknown(attempted, verdict.why);
  }
};

/** It was sent without a response at least once. */
const mayBeApplied = (attempt: Attempt): boolean => unansweredSince(attempt) !== undefined;

/**
 * Whether another client has deleted the target of a Delete. But if the Delete was rejected for another reason, this is
 * unknown: an absent target counts as deleted by us, as in doubt.
 */
const isTheirDeletion = (attempted: Attempted): boolean => {
  const { change, attempt, context, index } = attempted;
  return (
    change.type === "Delete" &&
    attempt.type === "refused" &&
    attempt.moved === true &&
    !mayBeApplied(attempt) &&
    forwardIn(context.known, index).metUnserved !== true &&
    !goesWithOwner(attempted)
  );
};

/** Finalizers delay the deletion. */
const awaitGone = (attempted: Attempted, finalizers: readonly string[]): Step => {
  const { context, journal, seen } = attempted;
  const fate = isTheirDeletion(attempted) ? "rejected" : "applied";
  const stopping = reasonToStop(attempted, fate);
  if (stopping !== undefined) return stopping;
  const until = seen.at + POLL_INTERVAL;
  return context.now < until
    ? waiting(context, journal, until, terminatingReason(attempted, finalizers, fate))
    : run(readChangedTarget(attempted));
};

/** It was not applied when the target was read. */
const sendAgain = (attempted: Attempted, object: KubeObject | undefined): Step => {
  const { attempt, before } = attempted;
  const hasMoved = object?.metadata.resourceVersion !== before?.metadata.resourceVersion;
  // A new version explains a conflict, but no other rejection.
  if (attempt.type === "refused" && !(hasMoved && attempt.code === 409)) return retryRejected(attempted, attempt);
  return hasMoved && object !== undefined ? goOnWith(attempted, object) : sendOnceSettled(attempted);
};

/** Sends the write again; a Create only once the one in flight can no longer take effect: no precondition would stop that. */
const sendOnceSettled = (attempted: Attempted): Step => {
  const { context, journal, change, place, attempt, seen } = attempted;
  const settledAt = attempt.sent + inFlightWindow(context.settings);
  if (change.type !== "Create" || seen.at >= settledAt) return send(attempted);
  return context.now < settledAt
    ? waiting(
        context,
        journal,
        settledAt,
        `a create of ${formatRef(place)} that was not answered may still take effect`,
      )
    : run(readChangedTarget(attempted));
};

/** Other clients have modified the target since it was read. */
const resolveConflict = (attempted: Attempted, verdict: Extract<InDoubtVerdict, { type: "conflict" }>): Step => {
  const { context, journal, place, attempt } = attempted;
  const { object, fields } = verdict;
  if (object === undefined) return abort(context, journal, conflictCause(deletedMessage(place)));
  const fate = fateOf(verdict, mayBeApplied(attempt));
  return fields.length > 0 || fate === "unknown"
    ? abort(context, journal, conflictCause(conflictMessage(attempted, object, fields), fate))
    : goOnWith(attempted, object);
};

const resolveUnknown = (attempted: Attempted, why: string): Step => {
  const { context, journal, place, attempt } = attempted;
  // Finalizers delayed the deletion. Now the object is gone, whatever has its name.
  if (attempt.type === "accepted") return run(nextChange(context, journal, attempted, undefined));
  return abort(context, journal, {
    reason: "CommitFailed",
    message: `${formatRef(place)}: ${why}`,
    fate: mayBeApplied(attempt) ? "unknown" : "rejected",
  });
};

/** Another client has changed what the change does not set: that goes into the snapshot, unless just that was required or approved. */
const goOnWith = (changeContext: ChangeContext, live: KubeObject): Step => {
  const { context, journal, change, place } = changeContext;
  if (change.resourceVersion !== undefined)
    return abort(context, journal, conflictCause(noLongerAt(place, change.resourceVersion)));
  if (isChangedSinceApproval(changeContext, live))
    return abort(
      context,
      journal,
      conflictCause(`${formatRef(place)} was changed after it was approved: approve it again`),
    );
  const { txn, known } = context;
  const stopping = reasonToStop(changeContext, "not-sent");
  if (stopping !== undefined) return onceSettled(changeContext, stopping);
  const asking = [
    ...readOtherVersions(txn, changeContext, known, live, changeContext.before),
    ...regranting(txn, known, changeContext, live),
  ];
  if (asking.length > 0) return run(...asking);
  const [lost] = [
    ...[lossOf(changeContext, known, live)?.message ?? []].flat(),
    ...newlyLost(changeContext, live),
    ...refusedGrants(txn, changeContext, known, live),
  ];
  return lost === undefined
    ? renewSnapshot(context, journal, changeContext, live)
    : abort(context, journal, conflictCause(lost));
};

/** The irreversible effect that the change has only now: its place in the list was checked by what its target was. */
const newlyLost = (changeContext: ChangeContext, live: KubeObject): readonly string[] => {
  const { change, before } = changeContext;
  const was = before === undefined ? undefined : lostForGood(changeContext, before);
  const is = lostForGood(changeContext, live);
  return is === undefined || is === was
    ? []
    : [`${modifiedMessage(changeContext, live)}: the ${change.type} now ${is}, which cannot be undone`];
};

const isEdit = ({ type }: ResolvedChange): boolean => type === "Update" || type === "Patch";

/** Whether an Update or Patch was applied when the Transaction gives up. */
const fateOf = (verdict: InDoubtVerdict, wasUnanswered: boolean): AbortCause["fate"] => {
  if (verdict.type === "applied") return "applied";
  return wasUnanswered && verdict.type === "conflict" && verdict.mayBeApplied === true ? "unknown" : "rejected";
};

const modifiedMessage = ({ place, before }: ChangeContext, live: KubeObject): string =>
  `${formatRef(place)} was modified by ${before === undefined ? "another client" : modifiedSinceBy(before, live)}`;

/** An Update conflicts with whatever was modified: then the path is empty. */
const conflictMessage = (changeContext: ChangeContext, object: KubeObject, fields: readonly Path[]): string => {
  const { place, context, change } = changeContext;
  const conceals = mustConceal(place.resource, change, context.settings);
  if (fields.length === 0)
    return `${formatRef(place)} was modified, and its managedFields do not name the field manager`;
  if (fields.some((path) => path.length === 0)) return modifiedMessage(changeContext, object);
  return `${showPaths(fields, conceals)} of ${formatRef(place)} was modified by ${modifiedBy(object, fields)}`;
};

const conflictCause = (message: string, fate: AbortCause["fate"] = "rejected"): AbortCause => ({
  reason: "ConflictDetected",
  message,
  fate,
});

const deletedMessage = (place: ObjectRef): string => `${formatRef(place)} was deleted by another client`;

const noLongerAt = (place: ObjectRef, resourceVersion: string): string =>
  `${formatRef(place)} is no longer at resourceVersion ${resourceVersion}, which the change requires`;

/** Whether an earlier change has deleted an owner of the object, so that the garbage collector deleted it. */
const goesWithOwner = ({ context: { txn }, journal, index, before }: ChangeContext): boolean => {
  const owners = (before?.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  return txn.spec.changes.slice(0, index).some((other, earlier) => {
    const deleted = recordedBefore(txn, journal, earlier);
    return deletes(other) && deleted.existed && owners.includes(deleted.uid);
  });
};

/** Rejected because something was missing or in conflict, although the target is unmodified: retried, or final. */
const retryRejected = (
  changeContext: ChangeContext,
  { sent, code, message }: Extract<Attempt, { type: "refused" }>,
): Step => {
  const { context, journal, index, place } = changeContext;
  const { txn, known, now } = context;
  const mayComeYet = (code === 403 || code === 404) && dependsOnEarlier(txn, index);
  const { since } = changeIn(known, index).enabling ?? { since: now };
  const isTriedAgain = code === 409 || (mayComeYet && now < since + ENABLING_TIME);
  if (!isTriedAgain)
    return onceSettled(
      changeContext,
      abort(context, journal, {
        reason: "CommitFailed",
        message: refusalOf(changeContext, message),
        fate: "rejected",
      }),
    );
  return now < sent + POLL_INTERVAL
    ? waiting(context, journal, sent + POLL_INTERVAL, `trying again: ${formatRef(place)}: ${message}`)
    : send(changeContext);
};

/**
 * The status message, with the reason why it continues to wait although a rollback was requested or the time is
 * over.
 */
const terminatingReason = (
  changeContext: ChangeContext,
  finalizers: readonly string[],
  fate: AbortCause["fate"],
): string => {
  const { place, context } = changeContext;
  const held = finalizers.length === 0 ? "" : `, delayed by its finalizers: ${finalizers.join(", ")}`;
  const requested = stopRequest(context);
  const wish = requested.type === "rollback" ? requested.why : "spec.timeout has passed";
  const irreversible =
    requested.type === "rollback" || context.now >= deadline(context)
      ? irreversibleReason(changeContext, fate)
      : undefined;
  return `waiting until ${formatRef(place)} is gone${held}${irreversible === undefined ? "" : ` (${wish}, but ${irreversible})`}`;
};
