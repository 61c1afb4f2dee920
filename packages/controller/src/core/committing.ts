import * as E from "fp-ts/lib/Either.js";
import { allStores, recordedBefore, snapshotOf } from "./before.ts";
import { type Ask, type Effect, run, type Step, wait } from "./effect.ts";
import { inDoubt, meaning, sentence } from "./fault.ts";
import type { Journal } from "./journal.ts";
import { checkpoint, findJournal, readJournal } from "./journaling.ts";
import { type Attempt, journalIn, type Known, type Refusal, set, unansweredSince, unset } from "./known.ts";
import { leaving } from "./leaving.ts";
import { acquire, hold } from "./locks.ts";
import { type KubeObject, type Place, show } from "./object.ts";
import { dependsOnEarlier, discoveries, locate, namespaceMaker, places } from "./places.ts";
import { deadline } from "./preparing.ts";
import { projected, record } from "./record.ts";
import { renewSnapshot } from "./renew-snapshot.ts";
import { settle, showPaths, type Verdict } from "./settle.ts";
import { quiet, type Situation } from "./situation.ts";
import { isReleased, releaseStore } from "./stores.ts";
import { type Item, readTarget, writeOf } from "./targets.ts";
import { turnBack } from "./turn-back.ts";
import { isRefused, withoutJournal } from "./without-journal.ts";

/** How long a change is tried whose Namespace, CRD or rights an earlier change has just brought, in ms. */
const ENABLING_TIME = 30_000;
/** How often something is looked at, or tried, that only others can change, in ms. */
const LOOK_AGAIN = 1000;
/** The status shows progress at most this often, in ms. */
const PROJECTION_INTERVAL = 1000;

/** One change on its way in. */
interface Going extends Item {
  readonly situation: Situation;
  readonly journal: Journal;
  readonly before: KubeObject | undefined;
}

/**
 * Makes the changes one after the other, with one checkpoint after each that is also the intent of the next.
 *
 * Guarantees: at most one change is ever in doubt, the one at the journal's cursor; a write bears the version that it was
 *             decided on, and goes out only while its lock is good for longer than the write can take; what was written
 *             and not checkpointed is recognised by its mark; the way back begins only when nothing is in doubt.
 * Assumes:    everything is prepared (see `preparing.ts`).
 */
export const committing = (situation: Situation): Step => {
  const { txn, known } = situation;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  if (isRefused(known.journal)) return withoutJournal(situation, known.journal, recordedCursor(situation), "undecided");
  const finding = findJournal(txn, known, { direction: "forward", cursor: recordedCursor(situation) });
  const journal = journalIn(known);
  if (finding !== undefined || journal === undefined) return run(finding ?? readJournal(txn));
  // Another leader has turned back, and this version of the Transaction does not know it yet.
  if (journal.position.direction === "back")
    return wait(situation.now + LOOK_AGAIN, "it is rolled back already: looking at it again");
  const index = journal.position.cursor;
  const change = txn.spec.changes[index];
  if (change === undefined) return commit(situation, journal);
  const refusal = known.refusals.get(index);
  if (refusal !== undefined) return turnBack(situation, journal, refusal);
  const place = locate(txn, known, index);
  if (E.isLeft(place))
    return turnBack(situation, journal, { reason: "CommitFailed", message: place.left, fate: "unsent" });
  return advance(situation, journal, { index, change, place: place.right });
};

/** The journal was lost: every change since the last projection is in doubt, and the targets tell one by one. */
const recordedCursor = ({ txn }: Situation): number => {
  const first = txn.status.items.findIndex((item) => item.state.at !== "committed");
  return Math.min(first === -1 ? txn.status.items.length : first, txn.spec.changes.length);
};

const advance = (situation: Situation, journal: Journal, item: Item): Step => {
  const { txn, known } = situation;
  const made = known.made.get(item.index);
  if (made !== undefined) return run(next(txn, journal, item, made.created));
  const snapshot = snapshotOf(txn, known, journal, item.index);
  if (snapshot.at === "unread") return run(...snapshot.effects);
  if (snapshot.at === "lost")
    return turnBack(situation, journal, { reason: "CommitFailed", message: snapshot.why, fate: "undecided" });
  const going: Going = { ...item, situation, journal, before: snapshot.at === "object" ? snapshot.object : undefined };

  const attempt = known.attempts.get(item.index);
  if (attempt === undefined) return send(going);
  const seen = known.live.get(item.index);
  if (seen === undefined) return run(readTarget(item, unreadable(going)));
  const verdict = settle(item.change, item.place, going.before, journal.created.get(item.index), seen, txn.metadata);
  return judge(going, attempt, verdict, seen.at);
};

/** What follows from what the target tells of a write that was not simply answered with success. */
const judge = (going: Going, attempt: Attempt, verdict: Verdict, seenAt: number): Step => {
  const { situation, journal, change, place, before } = going;
  const { txn, now, settings } = situation;
  const mayBeMade = unansweredSince(attempt) !== undefined;
  switch (verdict.at) {
    case "in":
      if (change.type === "Delete" && attempt.at === "refused" && !mayBeMade && !goesWithOwner(going))
        return turnBack(situation, journal, conflict(`${show(place)} was deleted by somebody else`));
      return run(next(txn, journal, going, verdict.created));
    case "going":
      return (
        reasonToStop(going, "in") ??
        (now < seenAt + LOOK_AGAIN
          ? waiting(situation, journal, seenAt + LOOK_AGAIN, holdUp(place, verdict.finalizers))
          : run(readTarget(going, unreadable(going))))
      );
    case "out": {
      const { object } = verdict;
      const moved = object?.metadata.resourceVersion !== before?.metadata.resourceVersion;
      // A new version is why a write is refused as a conflict, and no reason for any other refusal.
      if (attempt.at === "refused" && !(moved && attempt.code === 409)) return tryAgain(going, attempt);
      if (moved && object !== undefined) return renewSnapshot(situation, journal, going, object);
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
      return verdict.fields.length > 0 || change.resourceVersion !== undefined
        ? turnBack(situation, journal, conflict(`somebody else changed ${showPaths(verdict.fields)} of ${show(place)}`))
        : renewSnapshot(situation, journal, going, verdict.object);
    case "undecided":
      return turnBack(situation, journal, {
        reason: "CommitFailed",
        message: `${show(place)}: ${verdict.why}`,
        fate: mayBeMade ? "undecided" : "unmade",
      });
  }
};

const conflict = (message: string): Refusal => ({ reason: "ConflictDetected", message, fate: "unmade" });

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
  const enabling = dependsOnEarlier(txn, index) && now < (known.triedSince.get(index) ?? now) + ENABLING_TIME;
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

/** People want it back, or time has run out: turns back here, with what has become of this change. */
const reasonToStop = ({ situation, journal, index }: Going, fate: Refusal["fate"]): Step | undefined => {
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
const onceSettled = (going: Going, back: Step): Step => {
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
const send = (going: Going): Step => {
  const { situation, journal, index } = going;
  const { txn, known } = situation;
  const stop = (reason: Refusal["reason"], message: string): Step =>
    onceSettled(going, turnBack(situation, journal, { reason, message, fate: "unsent" }));
  const stopping = reasonToStop(going, "unsent");
  if (stopping !== undefined) return onceSettled(going, stopping);
  const all = places(txn, known);
  const isEarly = (index: number, at: Place): boolean => namespaceMaker(txn, index, at) === undefined;
  const early = new Map([...all].filter(([other, at]) => isEarly(other, at)));
  const holding = hold(situation, early);
  if (E.isLeft(holding)) return stop("LockRenewalFailed", holding.left);
  if (holding.right.length > 0) return run(...holding.right);
  // Locks in a Namespace that the Transaction has created are taken right after it exists.
  const late = new Map(
    [...all].filter(([other, at]) => !isEarly(other, at) && (namespaceMaker(txn, other, at) ?? index) < index),
  );
  const locking = acquire(situation, late);
  if (locking.at === "refused") return stop("LockRenewalFailed", [...locking.problems.values()].join("; "));
  if (locking.at === "waiting") return wait(locking.until, locking.because, locking.tell);
  if (locking.at === "going") return run(...locking.effects);
  return run(write(going), ...projection(situation, journal));
};

const unreadable =
  ({ index, place }: Item): Ask["learn"] =>
  (known, answer) => ({
    ...known,
    refusals: set(known.refusals, index, {
      reason: "CommitFailed",
      message: `${show(place)} cannot be read: ${E.isLeft(answer) ? sentence(answer.left) : ""}`,
      fate: "undecided",
    }),
  });

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

/** The checkpoint of this change, and the intent of the next. */
const next = (
  txn: Situation["txn"],
  journal: Journal,
  { index, change, place }: Item,
  created: string | undefined,
): Ask =>
  checkpoint(
    txn,
    journal,
    {
      position: { direction: "forward", cursor: index + 1 },
      ...(created === undefined ? {} : { created: [index, created] }),
    },
    {
      type: "Normal",
      reason: "ItemCommitted",
      message: `${index + 1}/${txn.spec.changes.length} ${change.type} ${show(place)}`,
    },
  );

const holdUp = (place: Place, finalizers: readonly string[]): string =>
  finalizers.length === 0
    ? `waiting until ${show(place)} is gone`
    : `waiting until ${show(place)} is gone, which its finalizers hold up: ${finalizers.join(", ")}`;

/** A pause, with the reason for it where people look. */
const waiting = (situation: Situation, journal: Journal, until: number, because: string): Step => {
  const { txn, known, now } = situation;
  const told = txn.status.conditions.some(({ type, message }) => type === "Ready" && message === because);
  if (told || now < known.projectedAt + PROJECTION_INTERVAL) return wait(until, because);
  const items = projected(txn, journal);
  return run(record(txn, { items, because: { reason: "Waiting", message: because } }, now));
};

/** Shows progress in the status, at most once a second, beside the next write. */
const projection = ({ txn, known, now }: Situation, journal: Journal): readonly Effect[] =>
  now < known.projectedAt + PROJECTION_INTERVAL
    ? []
    : [
        record(
          txn,
          { items: projected(txn, journal), because: { reason: "Committing", message: "making the changes" } },
          now,
        ),
      ];

const counted = (changes: number): string => (changes === 1 ? "the change is made" : `all ${changes} changes are made`);

/** Everything is in, and recorded to be. The snapshots are there until the phase is Committed: until then it can be rolled back. */
const commit = (situation: Situation, journal: Journal): Step => {
  const { txn, known, now } = situation;
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  if (way.at === "rollback")
    return turnBack(situation, journal, { reason: "RollbackRequested", message: way.why, fate: "in" });
  const held = allStores(txn, journal).filter((ref) => !isReleased(known, ref));
  if (held.length > 0) return run(...held.map((ref) => releaseStore(txn, ref, "free")));
  return run(
    record(
      txn,
      {
        phase: "Committed",
        items: projected(txn, journal),
        because: { reason: "Committed", message: counted(txn.spec.changes.length) },
      },
      now,
    ),
  );
};
