import { recordedBefore } from "./before.ts";
import { run, type Step } from "./effect.ts";
import { type Attempt, type Refusal, unansweredSince } from "./known.ts";
import { type Place, show } from "./object.ts";
import { dependsOnEarlier } from "./places.ts";
import { renewSnapshot } from "./renew-snapshot.ts";
import { showPaths, type Verdict } from "./settle.ts";
import { LOOK_AGAIN, quiet } from "./situation.ts";
import { readTarget } from "./targets.ts";
import { turnBack } from "./turn-back.ts";
import { type Going, next, unreadable } from "./going.ts";
import { waiting } from "./progress.ts";
import { onceSettled, reasonToStop, send } from "./send.ts";

/** How long a change is tried whose Namespace, CRD or rights an earlier change has just brought, in ms. */
const ENABLING_TIME = 30_000;

/** What follows from what the target tells of a write that was not simply answered with success. */
export const judge = (going: Going, attempt: Attempt, verdict: Verdict, seenAt: number): Step => {
  const { situation, journal, change, place, before } = going;
  const { txn, now, settings } = situation;
  const mayBeMade = unansweredSince(attempt) !== undefined;
  // Whoever has deleted it, we have not.
  const isTheirDeletion = change.type === "Delete" && attempt.at === "refused" && !mayBeMade && !goesWithOwner(going);
  switch (verdict.at) {
    case "in":
      if (isTheirDeletion) return turnBack(situation, journal, conflict(`${show(place)} was deleted by somebody else`));
      return run(next(txn, journal, going, verdict.created));
    case "going":
      return (
        reasonToStop(going, isTheirDeletion ? "unmade" : "in") ??
        (now < seenAt + LOOK_AGAIN
          ? waiting(situation, journal, seenAt + LOOK_AGAIN, holdUp(place, verdict.finalizers))
          : run(readTarget(going, unreadable(going))))
      );
    case "out": {
      const { object } = verdict;
      const moved = object?.metadata.resourceVersion !== before?.metadata.resourceVersion;
      // A new version is why a write is refused as a conflict, and no reason for any other refusal.
      if (attempt.at === "refused" && !(moved && attempt.code === 409)) return tryAgain(going, attempt);
      if (moved && object !== undefined)
        return change.resourceVersion === undefined
          ? renewSnapshot(situation, journal, going, object)
          : turnBack(situation, journal, conflict(noLongerAt(place, change.resourceVersion)));
      // Only a Create cannot simply be sent again: it bears no precondition that would stop the one that is still on its way.
      const settledAt = attempt.sent + quiet(settings);
      if (change.type !== "Create" || seenAt >= settledAt) return send(going);
      return now < settledAt
        ? waiting(situation, journal, settledAt, `a create of ${show(place)} that was not answered may still be made`)
        : run(readTarget(going, unreadable(going)));
    }
    case "overtaken":
      if (verdict.object === undefined)
        return turnBack(situation, journal, conflict(`${show(place)} was deleted by somebody else`));
      if (verdict.fields.length > 0)
        return turnBack(
          situation,
          journal,
          // A Patch leaves no mark where others have taken over all of its fields since.
          conflict(
            `somebody else changed ${showPaths(verdict.fields)} of ${show(place)}`,
            mayBeMade && change.type === "Patch" ? "undecided" : "unmade",
          ),
        );
      return change.resourceVersion === undefined
        ? renewSnapshot(situation, journal, going, verdict.object)
        : turnBack(situation, journal, conflict(noLongerAt(place, change.resourceVersion)));
    case "undecided":
      // Finalizers held it up after that, and it is gone, whatever has come in its place.
      if (attempt.at === "accepted") return run(next(txn, journal, going, undefined));
      return turnBack(situation, journal, {
        reason: "CommitFailed",
        message: `${show(place)}: ${verdict.why}`,
        fate: mayBeMade ? "undecided" : "unmade",
      });
  }
};

const conflict = (message: string, fate: Refusal["fate"] = "unmade"): Refusal => ({
  reason: "ConflictDetected",
  message,
  fate,
});

const noLongerAt = (place: Place, resourceVersion: string): string =>
  `${show(place)} is no longer at resourceVersion ${resourceVersion}, for which the change is meant`;

/** Whether an earlier change has deleted an owner of the object, so that the garbage collector took it. */
const goesWithOwner = ({ situation: { txn }, journal, index, before }: Going): boolean => {
  const owners = (before?.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  return txn.spec.changes.slice(0, index).some(({ type }, earlier) => {
    const deleted = recordedBefore(txn, journal, earlier);
    return type === "Delete" && deleted.existed && owners.includes(deleted.uid);
  });
};

/** Refused because something was not there, or in the way, though the target is as it was: worth another try, or final. */
const tryAgain = (going: Going, { sent, code, message }: Extract<Attempt, { at: "refused" }>): Step => {
  const { situation, journal, index, place, change } = going;
  const { txn, known, now } = situation;
  const mayComeYet = (code === 403 || code === 404) && dependsOnEarlier(txn, index);
  const enabling = mayComeYet && now < (known.triedSince.get(index) ?? now) + ENABLING_TIME;
  if (code !== 409 && !enabling)
    return onceSettled(
      going,
      turnBack(situation, journal, {
        reason: "CommitFailed",
        message: `the API server refused to ${change.type.toLowerCase()} ${show(place)}: ${message}`,
        fate: "unmade",
      }),
    );
  return now < sent + LOOK_AGAIN
    ? waiting(situation, journal, sent + LOOK_AGAIN, `trying again: ${show(place)}: ${message}`)
    : send(going);
};

const holdUp = (place: Place, finalizers: readonly string[]): string =>
  finalizers.length === 0
    ? `waiting until ${show(place)} is gone`
    : `waiting until ${show(place)} is gone, which its finalizers hold up: ${finalizers.join(", ")}`;
