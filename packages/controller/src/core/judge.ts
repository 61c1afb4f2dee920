import type { Change } from "@janus/api";
import { recordedBefore } from "./before.ts";
import { run, type Step } from "./effect.ts";
import type { Path } from "./fields.ts";
import { leaving } from "./leaving.ts";
import { type Attempt, type Refusal, type Sighting, unansweredSince } from "./known.ts";
import { dying, type Place, show } from "./object.ts";
import { dependsOnEarlier } from "./places.ts";
import { deadline } from "./preparing.ts";
import { renewSnapshot } from "./renew-snapshot.ts";
import { showPaths, type Verdict } from "./settle.ts";
import { LOOK_AGAIN, quiet } from "./situation.ts";
import { ENABLING_TIME } from "./targets.ts";
import { turnBack } from "./turn-back.ts";
import { type Going, look, next, refusalOf } from "./going.ts";
import { waiting } from "./progress.ts";
import { onceSettled, onlyForward, reasonToStop, send } from "./send.ts";

/** What follows from what the target tells of a write that was not simply answered with success. */
export const judge = (
  going: Going,
  attempt: Attempt,
  verdict: Verdict,
  { object: target, at: seenAt }: Sighting,
): Step => {
  const { situation, journal, change, place, before } = going;
  const { txn, now, settings } = situation;
  const mayBeMade = unansweredSince(attempt) !== undefined;
  // Whoever has deleted it, we have not. But where the refusal has another reason, nobody knows: gone counts as ours, as in doubt.
  const isTheirDeletion =
    change.type === "Delete" &&
    attempt.at === "refused" &&
    attempt.moved === true &&
    !mayBeMade &&
    !goesWithOwner(going);
  if (isEdit(change) && target?.metadata.deletionTimestamp !== undefined)
    return turnBack(situation, journal, conflict(dying(place, target), fateOf(verdict, mayBeMade)));
  switch (verdict.at) {
    case "in":
      if (isTheirDeletion) return turnBack(situation, journal, conflict(`${show(place)} was deleted by somebody else`));
      return run(next(txn, journal, going, verdict.created));
    case "going":
      return (
        reasonToStop(going, isTheirDeletion ? "unmade" : "in") ??
        (now < seenAt + LOOK_AGAIN
          ? waiting(
              situation,
              journal,
              seenAt + LOOK_AGAIN,
              holdUp(going, verdict.finalizers, isTheirDeletion ? "unmade" : "in"),
            )
          : run(look(going)))
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
        : run(look(going));
    }
    case "overtaken":
      if (verdict.object === undefined)
        return turnBack(situation, journal, conflict(`${show(place)} was deleted by somebody else`));
      if (verdict.fields.length > 0 || fateOf(verdict, mayBeMade) === "undecided")
        return turnBack(situation, journal, conflict(taken(place, verdict.fields), fateOf(verdict, mayBeMade)));
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

const isEdit = ({ type }: Change): boolean => type === "Update" || type === "Patch";

/** What has become of an Update or Patch that is given up. */
const fateOf = (verdict: Verdict, mayBeMade: boolean): Refusal["fate"] => {
  if (verdict.at === "in") return "in";
  return mayBeMade && verdict.at === "overtaken" && verdict.mayBeIn === true ? "undecided" : "unmade";
};

const taken = (place: Place, fields: readonly Path[]): string =>
  fields.length > 0
    ? `somebody else changed ${showPaths(fields)} of ${show(place)}`
    : `${show(place)} was changed, and its managedFields no longer tells by whom`;

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
  const { situation, journal, index, place } = going;
  const { txn, known, now } = situation;
  const mayComeYet = (code === 403 || code === 404) && dependsOnEarlier(txn, index);
  const enabling = mayComeYet && now < (known.triedSince.get(index) ?? now) + ENABLING_TIME;
  if (code !== 409 && !enabling)
    return onceSettled(
      going,
      turnBack(situation, journal, {
        reason: "CommitFailed",
        message: refusalOf(going, message),
        fate: "unmade",
      }),
    );
  return now < sent + LOOK_AGAIN
    ? waiting(situation, journal, sent + LOOK_AGAIN, `trying again: ${show(place)}: ${message}`)
    : send(going);
};

/** With why it goes on waiting although somebody wants it back, or its time is over. */
const holdUp = (going: Going, finalizers: readonly string[], fate: Refusal["fate"]): string => {
  const { place, situation } = going;
  const held = finalizers.length === 0 ? "" : `, which its finalizers hold up: ${finalizers.join(", ")}`;
  const way = leaving(situation);
  const wish = way.at === "rollback" ? way.why : "spec.timeout has passed";
  const lasting = way.at === "rollback" || situation.now >= deadline(situation) ? onlyForward(going, fate) : undefined;
  return `waiting until ${show(place)} is gone${held}${lasting === undefined ? "" : ` (${wish}, but ${lasting})`}`;
};
