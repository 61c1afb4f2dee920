import * as E from "fp-ts/lib/Either.js";
import { awaitRights } from "./await-rights.ts";
import { type Ask, run, type Step } from "./effect.ts";
import { inDoubt, isAbsent, meaning, sentence } from "./fault.ts";
import { type Attempt, type Known, type Refusal, set, unansweredSince, unset } from "./known.ts";
import { firstIrreversible } from "./irreversible.ts";
import { leaving } from "./leaving.ts";
import { acquire, hold } from "./locks.ts";
import { dying, show } from "./object.ts";
import { dependsOnEarlier, lockable } from "./places.ts";
import { deadline } from "./preparing.ts";
import { quiet } from "./situation.ts";
import { writeOf } from "./targets.ts";
import { turnBack } from "./turn-back.ts";
import { isServed } from "./unserved.ts";
import { type Going, look } from "./going.ts";
import { projection, waiting, waitingForLock } from "./progress.ts";

/**
 * People want it back, or time has run out: turns back here, with what has become of this change. But not where a deletion that
 * cannot be undone may have been sent; see {@link onlyForward}.
 */
export const reasonToStop = (going: Going, fate: Refusal["fate"]): Step | undefined => {
  const { situation, journal, index } = going;
  const { txn, now } = situation;
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  const lasting = onlyForward(going, fate);
  if (way.at === "release") return turnBack(situation, journal, { reason: "Deleted", message: way.why, fate });
  if (way.at === "rollback" && lasting === undefined)
    return turnBack(situation, journal, { reason: "RollbackRequested", message: way.why, fate });
  // Deleting it never hangs, however long what it deletes takes to go.
  if (lasting !== undefined && txn.metadata.deletionTimestamp !== undefined)
    return turnBack(situation, journal, {
      reason: "Deleted",
      message: `${lasting}: the Transaction was deleted`,
      fate,
    });
  if (lasting !== undefined || now < deadline(situation)) return undefined;
  const message = `spec.timeout passed with ${index} of ${txn.spec.changes.length} changes made`;
  return turnBack(situation, journal, { reason: "Timeout", message, fate });
};

/** Why it cannot be turned back any more, in words; undefined where it can. */
export const onlyForward = ({ situation: { txn }, index }: Going, fate: Refusal["fate"]): string | undefined => {
  const deleted = firstIrreversible(txn, fate === "in" ? index + 1 : index)?.target;
  return deleted === undefined
    ? undefined
    : `the deletion of ${deleted.kind} ${deleted.name} cannot be undone, so the Transaction can only be completed`;
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
    : run(look(going));
};

/** The write itself, unless there is a reason to stop first. */
export const send = (going: Going): Step => {
  const { situation, journal, index } = going;
  const { txn, known } = situation;
  const stop = (reason: Refusal["reason"], message: string): Step =>
    onceSettled(going, turnBack(situation, journal, { reason, message, fate: "unsent" }));
  const stopping = reasonToStop(going, "unsent");
  if (stopping !== undefined) return onceSettled(going, stopping);
  const unproven = new Set(txn.status.items.flatMap(({ lock }, at) => (lock === undefined ? [at] : [])));
  const { early, late } = lockable(txn, known, index, unproven);
  const holding = hold(situation, early);
  if (E.isLeft(holding)) return stop("LockRenewalFailed", holding.left);
  if (holding.right.length > 0) return run(...holding.right);
  if (unproven.has(index) && known.locks.get(index)?.at !== "held") {
    const pending = awaitRights(going);
    if (typeof pending === "string") return stop("CommitFailed", pending);
    if (pending !== undefined) return pending;
  }
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
    mayBeUnserved: !isServed(situation.known, place.resource),
    learn: (known, answer, now, sent) => {
      if (E.isRight(answer)) {
        const { metadata } = answer.right;
        if (change.type === "Delete" && metadata?.deletionTimestamp !== undefined)
          return attempted(known, { at: "accepted", sent });
        // It was being deleted when it was read, and no new version tells of that.
        if ((change.type === "Update" || change.type === "Patch") && metadata?.deletionTimestamp !== undefined)
          return {
            ...known,
            refusals: set(known.refusals, index, {
              reason: "ConflictDetected",
              message: dying(place, answer.right),
              fate: "in",
            }),
          };
        const created = change.type === "Create" ? { created: metadata.uid ?? "" } : {};
        return { ...known, made: set(known.made, index, created) };
      }
      const fault = answer.left;
      const code = fault.kind === "refused" ? fault.code : 0;
      const unanswered = unansweredSince(known.attempts.get(index));
      const earlier = unanswered === undefined ? {} : { unanswered };
      const isConflict = fault.kind === "refused" && fault.reason === "Conflict";
      const moved = isAbsent(fault) || isConflict ? { moved: true as const } : {};
      const refused: Attempt = { at: "refused", sent, code, message: sentence(fault), ...moved, ...earlier };
      const mayComeYet =
        code === 404 || meaning(fault) === "conflict" || (code === 403 && dependsOnEarlier(txn, index));
      const triedSince =
        mayComeYet && !known.triedSince.has(index) ? set(known.triedSince, index, now) : known.triedSince;
      // Whoever refused it, the target tells whether it was made: not every refusal is of the API server.
      return { ...attempted(known, refused), triedSince };
    },
    lost: (known, fault, now) => (inDoubt(fault) ? attempted(known, { at: "unanswered", sent: now }) : known),
  };
};
