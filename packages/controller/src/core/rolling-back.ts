import { cut, RETRY_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { releaseAll, showStores, snapshotOf } from "./before.ts";
import { type Ask, run, type Step, type Telling } from "./effect.ts";
import { type Entry, type Journal, type Note, stateOf } from "./journal.ts";
import { checkpoint, findJournal, readJournal } from "./journaling.ts";
import { journalIn, type Known, set } from "./known.ts";
import { leaving } from "./leaving.ts";
import { reacquire } from "./locks.ts";
import { show } from "./object.ts";
import { discoveries, locate, places } from "./places.ts";
import { waiting, waitingForLock } from "./progress.ts";
import { isAskedFor, isUnsettled, MOST_RECOVERIES } from "./recovery.ts";
import { projected, record, unask } from "./record.ts";
import type { Situation } from "./situation.ts";
import type { Item } from "./targets.ts";
import { undo } from "./undo.ts";
import type { Undoing } from "./undoing.ts";
import { isRefused, withoutJournal } from "./without-journal.ts";

/**
 * Puts back what was changed, in reverse, one item and one checkpoint at a time.
 *
 * Guarantees: only what is in is undone; an item that cannot be put back is noted and does not stop the others; what others
 *             changed since stays theirs. RolledBack means that every target is as it was before; anything else is Failed.
 * Assumes:    nothing is in doubt on the way forward (see `turn-back.ts`).
 */
export const rollingBack = (situation: Situation): Step => {
  const { txn, known } = situation;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  if (isAskedFor(txn)) return run(unask(txn));
  if (isRefused(known.journal)) return withoutJournal(situation, known.journal, reached(situation), "unsent");
  const finding = findJournal(txn, known, { direction: "forward", cursor: reached(situation) });
  const journal = journalIn(known);
  if (finding !== undefined || journal === undefined) return run(finding ?? readJournal(txn));
  const { position } = journal;
  if (position.direction === "forward") return run(turn(situation, journal));
  const back: Back = { ...journal, position };
  if (position.cursor < 0) return finish(situation, journal);
  const state = stateOf(txn.status.items[position.cursor]?.state ?? { at: "untouched" }, position.cursor, journal);
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  if (way.at === "release") return abandon(situation, state.at === "committed" ? interrupted(back) : back);
  if (state.at !== "committed") return run(settle(situation, back, position.cursor));
  return putBack(situation, back, position.cursor);
};

/** The journal of a rollback that is under way. */
type Back = Journal & { readonly position: { readonly direction: "back" } };

/** Up to where changes are in, as far as the status tells. When it is tried again, some before it are put back already. */
const reached = ({ txn }: Situation): number =>
  Math.min(txn.status.items.findLastIndex((item) => item.state.at === "committed") + 1, txn.spec.changes.length);

/** What was seen of the targets on the way forward says nothing of what is there now; what was let go of is needed again. */
const anew = (known: Known): Known => ({ ...known, live: new Map(), released: new Set() });

/** Turns the journal round. What became of the change at its cursor stands in the status since the phase is RollingBack. */
const turn = ({ txn, now }: Situation, journal: Journal) => {
  const { cursor } = journal.position;
  const fate = txn.status.items[cursor]?.state;
  const note: Partial<Entry> =
    fate?.at === "unmade" || fate?.at === "undecided" ? { note: [cursor, { at: fate.at, error: fate.error }] } : {};
  // A deletion that was accepted and that finalizers held up is in, though it was never checkpointed.
  const reached = fate?.at === "committed" ? cursor + 1 : cursor;
  const position: Back["position"] = { direction: "back", cursor: reached - 1, reached, since: now };
  const turned = checkpoint(txn, journal, { position, ...note });
  const learn: Ask["learn"] = (...answer) => anew(turned.learn(...answer));
  const lost: Ask["lost"] = (known, fault, at) => anew(turned.lost?.(known, fault, at) ?? known);
  return { ...turned, learn, lost };
};

/** Why an item is not put back: somebody else has changed it since, its snapshot is gone or altered, or anything else. */
type Why = "ConflictDetected" | "RollbackConfigMapMissing" | "RollbackFailed";

/** What is told of an item that has ended. */
const ended = (
  { index: item, change, place }: Item,
  note: Note | undefined,
  reason: Why = "RollbackFailed",
): Telling => {
  const label = `${change.type} ${show(place)}`;
  if (note === undefined || note.at === "restored")
    return {
      type: "Normal",
      reason: "ItemRolledBack",
      item,
      message: `${label} is undone${note === undefined ? "" : `: ${note.error}`}`,
    };
  return { type: "Warning", reason, item, message: `${label} is not undone: ${note.error}` };
};

/** Records how one item ended, and that the one before it is next. */
const settle = ({ txn }: Situation, journal: Back, index: number, note?: Note, ...tell: readonly Telling[]) =>
  checkpoint(
    txn,
    journal,
    {
      position: { ...journal.position, cursor: index - 1 },
      ...(note === undefined ? {} : { note: [index, { ...note, error: cut(note.error, 256) }] }),
    },
    ...tell,
  );

const putBack = (situation: Situation, journal: Back, index: number): Step => {
  const { txn, known, now } = situation;
  const change = txn.spec.changes[index];
  const place = locate(txn, known, index);
  const keep = (error: string, item?: Item, why?: Why): Step => {
    const note: Note = { at: "kept", error };
    return run(settle(situation, journal, index, note, ...(item === undefined ? [] : [ended(item, note, why)])));
  };
  if (change === undefined || E.isLeft(place)) return keep(E.isLeft(place) ? place.left : "there is no such change");
  const item: Item = { index, change, place: place.right };

  if (now >= rollbackDeadline(situation, journal)) return keep(ranOut(known, index), item);
  const locking = reacquire(situation, places(txn, known));
  if (locking.at === "going") return run(...locking.effects);
  if (locking.at === "waiting") return waitingForLock(situation, journal, locking);

  const snapshot = snapshotOf(txn, known, journal, index);
  if (snapshot.at === "unread") return run(...snapshot.effects);
  if (snapshot.at === "lost") return keep(snapshot.why, item, "RollbackConfigMapMissing");

  const undoing: Undoing = undo(situation, journal, item, snapshot.at === "object" ? snapshot.object : undefined);
  switch (undoing.at) {
    case "run": {
      const lock = known.locks.get(index);
      const writes = undoing.effects.some(({ purpose }) => purpose === "restore");
      return lock?.at === "impossible" && writes ? keep(lock.why, item) : run(...undoing.effects);
    }
    case "wait":
      return waiting(situation, journal, undoing.until, undoing.because);
    case "restored": {
      const note: Note | undefined =
        undoing.warning === undefined ? undefined : { at: "restored", error: undoing.warning };
      return run(settle(situation, journal, index, note, ended(item, note)));
    }
    case "kept":
      return keep(undoing.error, item, undoing.conflict === true ? "ConflictDetected" : "RollbackFailed");
  }
};

/** With what was in the way at last. */
const ranOut = ({ rebuffs }: Known, index: number): string =>
  ["the time for putting it back ran out", rebuffs.get(index)?.message ?? []].flat().join(": ");

/** Putting back may take as long as going forward, at least ten minutes. */
const rollbackDeadline = ({ txn }: Situation, { position }: Back): number =>
  position.since + Math.max(txn.spec.timeout, 600_000);

/** Deleted while it was rolled back: what is not put back yet stays, and so do the snapshots of it. */
const abandon = (situation: Situation, journal: Journal): Step => {
  const { txn, now } = situation;
  const held = releaseAll(situation, journal, "orphaned");
  if (held.length > 0) return run(...held);
  const message = `deleted while it was rolled back: what was there before is kept in ${showStores(txn, journal)}`;
  return run(
    record(txn, { phase: "Failed", items: projected(txn, journal), because: { reason: "Deleted", message } }, now),
  );
};

/** Nobody waits to find out what has become of the item at the cursor. */
const interrupted = (journal: Back): Journal => {
  const error = "it was being put back when the Transaction was deleted: it may be as it was before, wholly or in part";
  return { ...journal, notes: set<number, Note>(journal.notes, journal.position.cursor, { at: "kept", error }) };
};

const finish = (situation: Situation, journal: Journal): Step => {
  const { txn, now } = situation;
  const items = projected(txn, journal);
  const unsettled = items.flatMap((item, index) =>
    isUnsettled(item) && "error" in item.state ? [`changes[${index}]: ${item.state.error}`] : [],
  );
  // Ready may tell of a pause since.
  const cause = txn.status.conditions.find(({ type }) => type === "Committed");
  if (unsettled.length > 0) {
    const blocked = (txn.status.recovery?.attempts ?? 0) >= MOST_RECOVERIES;
    const message = cut(
      `could not be put back wholly: ${unsettled.join("; ")}; rolled back because: ${cause?.message ?? "of a failure"}`,
      4096,
    );
    const next: Telling = blocked
      ? {
          type: "Warning",
          reason: "RecoveryBlocked",
          message: `put it right by hand, or ask for another attempt with the annotation ${RETRY_ROLLBACK}`,
        }
      : {
          type: "Warning",
          reason: "RollbackFailed",
          message: `${cut(message, 800)}; it is tried again by itself, or at once with the annotation ${RETRY_ROLLBACK}`,
        };
    const because = { reason: "RollbackFailed", message, told: "status.items says what could not be put back" };
    return run(record(txn, { phase: "Failed", items, because }, now, next));
  }
  const held = releaseAll(situation, journal, "owned");
  if (held.length > 0) return run(...held);
  const told = "every target is as it was before; put right what failed, and create the Transaction again";
  const message = cut(
    `every target is as it was before; rolled back because: ${cause?.message ?? "of a failure"}`,
    4096,
  );
  return run(
    record(txn, { phase: "RolledBack", items, because: { reason: cause?.reason ?? "RolledBack", message, told } }, now),
  );
};
