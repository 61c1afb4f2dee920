import * as E from "fp-ts/lib/Either.js";
import { releaseAll, snapshotOf } from "./before.ts";
import { type Ask, run, type Step, wait } from "./effect.ts";
import type { Instant } from "./instant.ts";
import type { Journal } from "./journal.ts";
import { findJournal, readJournal } from "./journaling.ts";
import { firstIrreversible } from "./irreversible.ts";
import { journalIn, type Known, type Refusal } from "./known.ts";
import { leaving } from "./leaving.ts";
import { withoutLostOwners } from "./owners.ts";
import { discoveries, locate } from "./places.ts";
import { projected, record } from "./record.ts";
import { settle } from "./settle.ts";
import { LOOK_AGAIN, type Situation } from "./situation.ts";
import type { Item } from "./targets.ts";
import { turnBack } from "./turn-back.ts";
import { isRefused, withoutJournal } from "./without-journal.ts";
import { type Going, look, next } from "./going.ts";
import { judge } from "./judge.ts";
import { send } from "./send.ts";

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
  if (finding !== undefined || journal === undefined) return run(inDoubt(situation, finding ?? readJournal(txn)));
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
    return turnBack(situation, journal, {
      reason: "CommitFailed",
      message: place.left,
      fate: fateUnseen(known, index),
    });
  return advance(situation, journal, { index, change, place: place.right });
};

/** Of a change whose target there is no way to look at. */
const fateUnseen = ({ attempts }: Known, index: number): Refusal["fate"] => {
  const attempt = attempts.get(index);
  if (attempt === undefined) return "unsent";
  return attempt.at === "refused" && attempt.unanswered === undefined ? "unmade" : "undecided";
};

/** The journal was lost: every change since the last projection is in doubt, and the targets tell one by one. */
const inDoubt = ({ txn }: Situation, finding: Ask): Ask => {
  if (finding.purpose !== "journal") return finding;
  const doubted = (known: Known, sent: Instant): Known => ({
    ...known,
    attempts: new Map(txn.spec.changes.map((_, at) => [at, known.attempts.get(at) ?? { at: "unanswered", sent }])),
  });
  return {
    ...finding,
    learn: (known, answer, now, sent) => doubted(finding.learn(known, answer, now, sent), now),
    lost: (known, fault, now) => doubted(finding.lost?.(known, fault, now) ?? known, now),
  };
};

/** Of the first change that the status does not have as made. */
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
  if (seen === undefined) return run(look(going));
  const former = withoutLostOwners(txn, journal, going.before, seen.object);
  const verdict = settle(item.change, item.place, former, journal.created.get(item.index), seen, txn.metadata);
  return judge(going, attempt, verdict, seen);
};

const counted = (changes: number): string => (changes === 1 ? "the change is made" : `all ${changes} changes are made`);

/** Everything is in, and recorded to be. The snapshots are there until the phase is Committed: until then it can be rolled back. */
const commit = (situation: Situation, journal: Journal): Step => {
  const { txn, now } = situation;
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  const lasting = firstIrreversible(txn, txn.spec.changes.length)?.target;
  if (way.at === "rollback" && lasting === undefined)
    return turnBack(situation, journal, { reason: "RollbackRequested", message: way.why, fate: "in" });
  const held = releaseAll(situation, journal, "free");
  if (held.length > 0) return run(...held);
  return run(
    record(
      txn,
      {
        phase: "Committed",
        items: projected(txn, journal),
        because: {
          reason: "Committed",
          message: [
            counted(txn.spec.changes.length),
            ...(way.at === "rollback" && lasting !== undefined
              ? [`${way.why}, but the deletion of ${lasting.kind} ${lasting.name} cannot be undone`]
              : []),
          ].join("; "),
        },
      },
      now,
    ),
  );
};
