import type { Change } from "@janus/api";
import { recordedBefore } from "../snapshots/prior-state.ts";
import { run, type Step } from "../state/effect.ts";
import type { KubeObject } from "@janus/types";
import { modifiedBy } from "../merge/field-managers.ts";
import { type Path, showPaths } from "../merge/field-set.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { type Attempt, type AbortCause, type TargetObservation, unansweredSince } from "../state/observations.ts";
import { terminatingMessage, type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { renewSnapshot } from "./retake-snapshot.ts";
import type { InDoubtVerdict } from "./in-doubt.ts";
import { deadline, inFlightWindow, POLL_INTERVAL } from "../state/reconcile-context.ts";
import { ENABLING_TIME } from "../state/resolved-changes.ts";
import { abort } from "../transitions/abort.ts";
import { type ChangeContext, observeTarget, nextChange, refusalOf } from "./change-context.ts";
import { waiting } from "../state/status-progress.ts";
import { onceSettled, onlyForward, reasonToStop, send } from "./send-change.ts";

/** What follows from what the target tells of a write that was not simply answered with success. */
export const resolveAttempt = (
  going: ChangeContext,
  attempt: Attempt,
  verdict: InDoubtVerdict,
  { object: target, at: seenAt }: TargetObservation,
): Step => {
  const { situation, journal, change, place, before } = going;
  const { txn, now, settings } = situation;
  const mayBeMade = unansweredSince(attempt) !== undefined;
  // Whoever has deleted it, we have not. But where the refusal has another reason, nobody knows: gone counts as ours, as in doubt.
  const isTheirDeletion =
    change.type === "Delete" &&
    attempt.type === "refused" &&
    attempt.moved === true &&
    !mayBeMade &&
    !goesWithOwner(going);
  if (isEdit(change) && target?.metadata.deletionTimestamp !== undefined)
    return abort(situation, journal, conflict(terminatingMessage(place, target), fateOf(verdict, mayBeMade)));
  switch (verdict.type) {
    case "in":
      if (isTheirDeletion)
        return abort(situation, journal, conflict(`${formatRef(place)} was deleted by another client`));
      return run(nextChange(txn, journal, going, verdict.created));
    case "going":
      return (
        reasonToStop(going, isTheirDeletion ? "unmade" : "in") ??
        (now < seenAt + POLL_INTERVAL
          ? waiting(
              situation,
              journal,
              seenAt + POLL_INTERVAL,
              holdUp(going, verdict.finalizers, isTheirDeletion ? "unmade" : "in"),
            )
          : run(observeTarget(going)))
      );
    case "out": {
      const { object } = verdict;
      const moved = object?.metadata.resourceVersion !== before?.metadata.resourceVersion;
      // A new version is why a write is refused as a conflict, and no reason for any other refusal.
      if (attempt.type === "refused" && !(moved && attempt.code === 409)) return tryAgain(going, attempt);
      if (moved && object !== undefined)
        return change.resourceVersion === undefined
          ? renewSnapshot(situation, journal, going, object)
          : abort(situation, journal, conflict(noLongerAt(place, change.resourceVersion)));
      // Only a Create cannot simply be sent again: it bears no precondition that would stop the one that is still on its way.
      const settledAt = attempt.sent + inFlightWindow(settings);
      if (change.type !== "Create" || seenAt >= settledAt) return send(going);
      return now < settledAt
        ? waiting(
            situation,
            journal,
            settledAt,
            `a create of ${formatRef(place)} that was not answered may still be made`,
          )
        : run(observeTarget(going));
    }
    case "overtaken":
      if (verdict.object === undefined)
        return abort(situation, journal, conflict(`${formatRef(place)} was deleted by another client`));
      if (verdict.fields.length > 0 || fateOf(verdict, mayBeMade) === "undecided")
        return abort(
          situation,
          journal,
          conflict(taken(place, verdict.object, verdict.fields), fateOf(verdict, mayBeMade)),
        );
      return change.resourceVersion === undefined
        ? renewSnapshot(situation, journal, going, verdict.object)
        : abort(situation, journal, conflict(noLongerAt(place, change.resourceVersion)));
    case "undecided":
      // Finalizers held it up after that, and it is gone, whatever has come in its place.
      if (attempt.type === "accepted") return run(nextChange(txn, journal, going, undefined));
      return abort(situation, journal, {
        reason: "CommitFailed",
        message: `${formatRef(place)}: ${verdict.why}`,
        fate: mayBeMade ? "undecided" : "unmade",
      });
  }
};

const isEdit = ({ type }: Change): boolean => type === "Update" || type === "Patch";

/** What has become of an Update or Patch that is given up. */
const fateOf = (verdict: InDoubtVerdict, mayBeMade: boolean): AbortCause["fate"] => {
  if (verdict.type === "in") return "in";
  return mayBeMade && verdict.type === "overtaken" && verdict.mayBeIn === true ? "undecided" : "unmade";
};

const taken = (place: ObjectRef, object: KubeObject, fields: readonly Path[]): string =>
  fields.length > 0
    ? `${showPaths(fields)} of ${formatRef(place)} was modified by ${modifiedBy(object, fields)}`
    : `${formatRef(place)} was modified, and its managedFields no longer tells by whom`;

const conflict = (message: string, fate: AbortCause["fate"] = "unmade"): AbortCause => ({
  reason: "ConflictDetected",
  message,
  fate,
});

const noLongerAt = (place: ObjectRef, resourceVersion: string): string =>
  `${formatRef(place)} is no longer at resourceVersion ${resourceVersion}, for which the change is meant`;

/** Whether an earlier change has deleted an owner of the object, so that the garbage collector took it. */
const goesWithOwner = ({ situation: { txn }, journal, index, before }: ChangeContext): boolean => {
  const owners = (before?.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  return txn.spec.changes.slice(0, index).some(({ type }, earlier) => {
    const deleted = recordedBefore(txn, journal, earlier);
    return type === "Delete" && deleted.existed && owners.includes(deleted.uid);
  });
};

/** Refused because something was not there, or in the way, though the target is as it was: worth another try, or final. */
const tryAgain = (going: ChangeContext, { sent, code, message }: Extract<Attempt, { type: "refused" }>): Step => {
  const { situation, journal, index, place } = going;
  const { txn, known, now } = situation;
  const mayComeYet = (code === 403 || code === 404) && dependsOnEarlier(txn, index);
  const enabling = mayComeYet && now < (known.triedSince.get(index) ?? now) + ENABLING_TIME;
  if (code !== 409 && !enabling)
    return onceSettled(
      going,
      abort(situation, journal, {
        reason: "CommitFailed",
        message: refusalOf(going, message),
        fate: "unmade",
      }),
    );
  return now < sent + POLL_INTERVAL
    ? waiting(situation, journal, sent + POLL_INTERVAL, `trying again: ${formatRef(place)}: ${message}`)
    : send(going);
};

/** With why it goes on waiting although somebody wants it back, or its time is over. */
const holdUp = (going: ChangeContext, finalizers: readonly string[], fate: AbortCause["fate"]): string => {
  const { place, situation } = going;
  const held = finalizers.length === 0 ? "" : `, which its finalizers hold up: ${finalizers.join(", ")}`;
  const way = stopRequest(situation);
  const wish = way.type === "rollback" ? way.why : "spec.timeout has passed";
  const lasting =
    way.type === "rollback" || situation.now >= deadline(situation) ? onlyForward(going, fate) : undefined;
  return `waiting until ${formatRef(place)} is gone${held}${lasting === undefined ? "" : ` (${wish}, but ${lasting})`}`;
};
