import { cut } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { snapshotOf } from "./before.ts";
import { sparing } from "./budget.ts";
import { type Ask, type Effect, run, type Step, type Telling } from "./effect.ts";
import { type Fault, sentence } from "./fault.ts";
import { attempt } from "./hindrance.ts";
import type { Instant } from "./instant.ts";
import { type Deferral, type Journal, type Note, stateOf } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { type Known, set, type Setback, unset } from "./known.ts";
import type { Awaited } from "./line.ts";
import { reacquire } from "./locks.ts";
import { show } from "./object.ts";
import { deletedOwners } from "./owners.ts";
import { discoveries, locate, places } from "./places.ts";
import { LOOK_AGAIN, type Situation } from "./situation.ts";
import type { Item } from "./targets.ts";
import { undo } from "./undo.ts";
import type { Undoing } from "./undoing.ts";

/** The journal of a rollback that is under way. */
export type Back = Journal & { readonly position: { readonly direction: "back" } };

/** The next step of the rollback of one item. */
export type ItemStep =
  | { readonly at: "run"; readonly step: Step }
  | {
      readonly at: "wait";
      readonly until: Instant;
      readonly because: string;
      readonly tell?: Telling;
      readonly awaited?: Awaited;
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
  if (note === undefined || note.error === "")
    return { type: "Normal", reason: "ItemRolledBack", item, message: `${label} is undone` };
  return note.at === "restored"
    ? { type: "Warning", reason: "ItemRolledBack", item, message: `${label} is undone: ${note.error}` }
    : { type: "Warning", reason, item, message: `${label} is not undone: ${note.error}` };
};

/** The position once this item needs no more work: the one before it is next, unless it was deferred. */
const passed = ({ position }: Back, index: number, now: Instant): Back["position"] => ({
  ...position,
  cursor: position.cursor === index ? index - 1 : position.cursor,
  since: now,
});

/** Records how one item ended. */
export const settle = (
  { txn, now }: Situation,
  journal: Back,
  index: number,
  note?: Note,
  ...tell: readonly Telling[]
): Ask =>
  sparing(
    checkpoint(
      txn,
      journal,
      {
        position: passed(journal, index, now),
        ...(journal.deferred.has(index) ? { resumed: index } : {}),
        ...(note === undefined ? {} : { note: [index, { ...note, error: cut(note.error, 256) }] }),
      },
      ...tell,
    ),
  );

/** Sets an item aside, which waits for something: the one before it is next. */
export const defer = (
  { txn, now }: Situation,
  journal: Back,
  index: number,
  error: string,
  behind: Pick<Deferral, "isBehind"> = {},
): Ask => {
  const { since } = journal.deferred.get(index) ?? journal.position;
  const deferral: Deferral = { error: cut(error, 256), since, ...behind };
  const position = passed(journal, index, now);
  const asked = sparing(checkpoint(txn, journal, { position, deferred: [index, deferral] }));
  // Refused because of what others before it wait for, as with a quota: it is tried again after them.
  const again = (known: Known): Known => ({ ...known, refusals: unset(known.refusals, index) });
  return { ...asked, learn: (...answer) => again(asked.learn(...answer)) };
};

/**
 * The rollback of one item may take as long as going forward, at least ten minutes. That of one that waits for others begins when
 * the last one of them has ended.
 */
const deadlineOf = ({ txn }: Situation, { position, deferred }: Back, index: number): Instant => {
  const deferral = deferred.get(index);
  const since = deferral === undefined || deferral.isBehind ? position.since : deferral.since;
  return since + Math.max(txn.spec.timeout, 600_000);
};

/** A pause after requests that did not get through, longer each time. */
const pauseAfter = ({ at, count }: Setback): Instant => at + Math.min(LOOK_AGAIN * 2 ** (count - 1), 10_000);

/** What does not get through is a matter of this item alone: the others go on. */
export const counted = (index: number, effect: Effect): Effect => {
  const lost = (known: Known, fault: Fault, now: Instant): Known => {
    const former = "lost" in effect && effect.lost !== undefined ? effect.lost(known, fault, now) : known;
    const count = (known.setbacks.get(index)?.count ?? 0) + 1;
    const message = `trying again to ${attempt(effect)}: ${sentence(fault)}`;
    return { ...former, setbacks: set(former.setbacks, index, { at: now, count, message }) };
  };
  return { ...effect, lost };
};

/**
 * Rolls back one item, one request at a time.
 *
 * Guarantees: it takes no other lock than that of its target, and of targets that it has to adopt again; it ends, `kept`, when its
 *             own time is over.
 *
 * @param isLast whether no item before it was deferred: a refusal may be due to those.
 */
export const rollbackItem = (situation: Situation, journal: Back, index: number, isLast: boolean): ItemStep => {
  const { txn, known, now } = situation;
  const change = txn.spec.changes[index];
  const keep = (error: string, item?: Item, why?: Why): ItemStep => {
    const note: Note = { at: "kept", error };
    const tell = item === undefined ? [] : [ended(item, note, why)];
    return { at: "run", step: run(settle(situation, journal, index, note, ...tell)) };
  };
  const go = (...effects: readonly Effect[]): ItemStep => ({
    at: "run",
    step: run(...effects.map((effect) => counted(index, effect))),
  });
  const setback = known.setbacks.get(index);
  const isOver = now >= deadlineOf(situation, journal, index);
  if (setback !== undefined && now < pauseAfter(setback) && !isOver && !known.refusals.has(index))
    return { at: "wait", until: pauseAfter(setback), because: setback.message };
  // A Delete looks at all others for those that depend on its target.
  const unknown = discoveries(txn, known).filter(
    ({ apiVersion, kind }) =>
      change?.type === "Delete" || (apiVersion === change?.target.apiVersion && kind === change.target.kind),
  );
  if (unknown.length > 0) return isOver ? keep(ranOut(known, index)) : go(...unknown);
  const place = locate(txn, known, index);
  if (change === undefined || E.isLeft(place)) return keep(E.isLeft(place) ? place.left : "there is no such change");
  const item: Item = { index, change, place: place.right };
  if (isOver) return keep(ranOut(known, index), item);

  const locked = (needed: number): ItemStep | undefined => {
    const touched = [...places(txn, known)].filter(([at]) => at < journal.position.reached || at === needed);
    const locking = reacquire(situation, new Map(touched), [needed]);
    if (locking.at === "going") return go(...locking.effects);
    if (locking.at !== "waiting") return undefined;
    const { effects, until, because, tell, awaited } = locking;
    return effects.length > 0
      ? { at: "run", step: { ...run(...effects), tell: [tell] } }
      : { at: "wait", until, because, tell, awaited };
  };
  const locking = locked(index);
  if (locking !== undefined) return locking;

  const snapshot = snapshotOf(txn, known, journal, index);
  if (snapshot.at === "unread") return go(...snapshot.effects);
  if (snapshot.at === "lost") return keep(snapshot.why, item, "RollbackConfigMapMissing");

  const undoing: Undoing = undo(situation, journal, item, snapshot.at === "object" ? snapshot.object : undefined);
  const isUnsettled = (owner: number): boolean =>
    stateOf(txn.status.items[owner]?.state ?? { at: "untouched" }, owner, journal).at !== "restored";
  switch (undoing.at) {
    case "run": {
      const lock = known.locks.get(index);
      const writes = undoing.effects.some(({ purpose }) => purpose === "restore");
      return lock?.at === "impossible" && writes ? keep(lock.why, item) : go(...undoing.effects);
    }
    case "wait":
      return undoing;
    case "lock":
      return locked(undoing.index) ?? keep(`${show(item.place)}: what depends on it cannot be locked`, item);
    case "restored": {
      const owners = snapshot.at === "object" ? deletedOwners(txn, journal, snapshot.object).filter(isUnsettled) : [];
      const note: Note | undefined =
        undoing.warning === undefined && owners.length === 0
          ? undefined
          : { at: "restored", error: undoing.warning ?? "", ...(owners.length === 0 ? {} : { owners }) };
      // What it owns has lost no owner.
      const { stillThere } = undoing;
      if (stillThere !== undefined && journal.created.get(index) !== stillThere)
        return { at: "run", step: run(checkpoint(txn, journal, { created: [index, stillThere] })) };
      return { at: "run", step: run(settle(situation, journal, index, note, ended(item, note))) };
    }
    case "kept": {
      if (undoing.conflict === true) return keep(undoing.error, item, "ConflictDetected");
      return isLast
        ? keep(undoing.error, item)
        : { at: "run", step: run(defer(situation, journal, index, undoing.error, { isBehind: true })) };
    }
  }
};

/** With what was in the way at last. */
const ranOut = ({ rebuffs, setbacks }: Known, index: number): string =>
  ["the time for its rollback ran out", rebuffs.get(index)?.message ?? setbacks.get(index)?.message ?? []]
    .flat()
    .join(": ");
