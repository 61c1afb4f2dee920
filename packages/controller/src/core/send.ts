import * as E from "fp-ts/lib/Either.js";
import { type Ask, run, type Step } from "./effect.ts";
import { inDoubt, meaning, sentence } from "./fault.ts";
import { type Attempt, type Known, type Refusal, set, unansweredSince, unset } from "./known.ts";
import { leaving } from "./leaving.ts";
import { acquire, hold } from "./locks.ts";
import { show } from "./object.ts";
import { dependsOnEarlier, lockable } from "./places.ts";
import { deadline } from "./preparing.ts";
import { quiet } from "./situation.ts";
import { readTarget, writeOf } from "./targets.ts";
import { turnBack } from "./turn-back.ts";
import { type Going, unreadable } from "./going.ts";
import { projection, waiting, waitingForLock } from "./progress.ts";

/** People want it back, or time has run out: turns back here, with what has become of this change. */
export const reasonToStop = ({ situation, journal, index }: Going, fate: Refusal["fate"]): Step | undefined => {
  const { txn, now } = situation;
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  if (way.at === "release") return turnBack(situation, journal, { reason: "Deleted", message: way.why, fate });
  if (way.at === "rollback")
    return turnBack(situation, journal, { reason: "RollbackRequested", message: way.why, fate });
  if (now < deadline(situation)) return undefined;
  const message = `spec.timeout passed with ${index} of ${txn.spec.changes.length} changes made`;
  return turnBack(situation, journal, { reason: "Timeout", message, fate });
};

/** Turns back from a target that is as it was, but not while a write that was not answered may still be made. */
export const onceSettled = (going: Going, back: Step): Step => {
  const { situation, journal, index, place } = going;
  const { known, now, settings } = situation;
  const unanswered = unansweredSince(known.attempts.get(index));
  if (unanswered === undefined) return back;
  const settledAt = unanswered + quiet(settings);
  if ((known.live.get(index)?.at ?? now) >= settledAt) return back;
  return now < settledAt
    ? waiting(situation, journal, settledAt, `a write to ${show(place)} that was not answered may still be made`)
    : run(readTarget(going, unreadable(going)));
};

/** The write itself, unless there is a reason to stop first. */
export const send = (going: Going): Step => {
  const { situation, journal, index } = going;
  const { txn, known } = situation;
  const stop = (reason: Refusal["reason"], message: string): Step =>
    onceSettled(going, turnBack(situation, journal, { reason, message, fate: "unsent" }));
  const stopping = reasonToStop(going, "unsent");
  if (stopping !== undefined) return onceSettled(going, stopping);
  const { early, late } = lockable(txn, known, index);
  const holding = hold(situation, early);
  if (E.isLeft(holding)) return stop("LockRenewalFailed", holding.left);
  if (holding.right.length > 0) return run(...holding.right);
  // Locks in a Namespace that the Transaction has created are taken right after it exists.
  const locking = acquire(situation, late);
  if (locking.at === "refused") return stop("LockRenewalFailed", [...locking.problems.values()].join("; "));
  if (locking.at === "waiting") return waitingForLock(situation, journal, locking);
  if (locking.at === "going") return run(...locking.effects);
  return run(write(going), ...projection(situation, journal));
};

const write = (going: Going): Ask => {
  const { index, change, place, before, situation } = going;
  const { txn } = situation;
  const attempted = (known: Known, attempt: Attempt): Known => ({
    ...known,
    live: unset(known.live, index),
    attempts: set(known.attempts, index, attempt),
  });
  return {
    purpose: "change",
    item: index,
    as: "serviceAccount",
    call: writeOf(txn, going, before),
    learn: (known, answer, now, sent) => {
      if (E.isRight(answer)) {
        const { metadata } = answer.right;
        if (change.type === "Delete" && metadata?.deletionTimestamp !== undefined)
          return attempted(known, { at: "accepted", sent });
        const created = change.type === "Create" ? { created: metadata.uid ?? "" } : {};
        return { ...known, made: set(known.made, index, created) };
      }
      const fault = answer.left;
      const code = fault.kind === "refused" ? fault.code : 0;
      const unanswered = unansweredSince(known.attempts.get(index));
      const earlier = unanswered === undefined ? {} : { unanswered };
      const refused: Attempt = { at: "refused", sent, code, message: sentence(fault), ...earlier };
      if (meaning(fault) === "conflict" || (code === 403 && dependsOnEarlier(txn, index))) {
        const triedSince = known.triedSince.has(index) ? known.triedSince : set(known.triedSince, index, now);
        return { ...attempted(known, refused), triedSince };
      }
      // An earlier sending may have been made all the same: the target tells.
      if (unanswered !== undefined) return attempted(known, refused);
      return {
        ...known,
        refusals: set(known.refusals, index, {
          reason: "CommitFailed",
          message: `the API server refused to ${change.type.toLowerCase()} ${show(place)}: ${sentence(fault)}`,
          fate: "unmade",
        }),
      };
    },
    lost: (known, fault, now) => (inDoubt(fault) ? attempted(known, { at: "unanswered", sent: now }) : known),
  };
};
