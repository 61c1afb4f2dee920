import { parseHolder } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask, Effect, Telling } from "./effect.ts";
import type { Instant } from "./instant.ts";
import type { LockSight } from "./known.ts";
import type { Awaited } from "./line.ts";
import { type Place, show } from "./object.ts";
import type { Situation } from "./situation.ts";
import { askForTheWay } from "./give-way.ts";
import { claim, create, giveBack, judge, lockDuration, lockPlace, look, lookAgainAt } from "./lease.ts";

interface Wanted {
  readonly index: number;
  readonly target: Place;
  /** Of its Lease. */
  readonly place: Place;
}

/** The next request that brings us nearer to this lock; a pause where only waiting helps. */
const approach = (
  situation: Situation,
  { index, target, place }: Wanted,
): Effect | { readonly until: Instant; readonly because: string } => {
  const { known, now } = situation;
  const sight = known.locks.get(index);
  const lease = `Lease ${place.namespace}/${place.name}`;
  if (sight === undefined || sight.at === "free") {
    const first = situation.ahead(place)?.metadata;
    if (first === undefined) return create(situation, index, place);
    const because = `waiting for ${show(target)}: Transaction ${first.namespace}/${first.name} waits for it, too, and goes first (${lease})`;
    return { until: lookAgainAt(situation, now), because };
  }
  if (sight.at === "held" && !sight.stale) return claim(situation, index, place, sight);
  if (sight.at !== "theirs") return look(situation, index, place, false);
  const until = lookAgainAt(situation, sight.looked);
  if (now >= until) return look(situation, index, place, false);
  const holder = parseHolder(sight.holder);
  if (holder !== undefined && sight.judged === undefined) return judge(index, holder, target);
  const isForeign = holder === undefined || sight.judged === "stranger";
  if (isForeign ? now >= sight.expires : sight.judged === "over") return claim(situation, index, place, sight);
  const because = isForeign
    ? `waiting for ${show(target)}: ${lease} is held by ${sight.holder}`
    : `waiting for ${show(target)}: Transaction ${holder.namespace}/${holder.name} has locked it (${lease})`;
  return { until, because };
};

export type Locking =
  | { readonly at: "held" }
  | { readonly at: "going"; readonly effects: readonly Effect[] }
  | {
      readonly at: "waiting";
      readonly until: Instant;
      readonly because: string;
      readonly tell: Telling;
      readonly awaited: Awaited;
      /** What is done meanwhile. */
      readonly effects: readonly Effect[];
    }
  | { readonly at: "refused"; readonly problems: ReadonlyMap<number, string> };

const order = ({ place }: Wanted): string => `${place.namespace ?? ""}/${place.name}`;

/** In the one global order: namespace and name of the Lease. */
const inOrder = ({ settings }: Situation, targets: ReadonlyMap<number, Place>): readonly Wanted[] =>
  [...targets]
    .map(([index, target]) => ({ index, target, place: lockPlace(target, settings.controllerNamespace) }))
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1));

/** A lock is safe for a write when it is good for longer than the write can take. */
export const isSafe = (sight: LockSight | undefined, { now, settings }: Situation): boolean =>
  sight?.at === "held" && sight.until > now + settings.writeTimeout;

const waitingFor = (
  { index, place }: Wanted,
  { until, because }: { readonly until: Instant; readonly because: string },
  effects: readonly Effect[],
): Locking => ({
  at: "waiting",
  until,
  because,
  awaited: { index, lease: place },
  tell: { type: "Normal", reason: "LockWaiting", message: because },
  effects,
});

/**
 * Takes the locks of these targets, of which none has been touched.
 *
 * Guarantees: at first all are tried side by side; as soon as one is held by somebody else, what comes after it in one
 *             global order is given back, and the rest is taken one by one in that order: so no two Transactions can wait
 *             for each other. One that has touched others already asks who has touched nothing to give way.
 *             A lock of a live, unfinished Transaction is never taken over; one of a finished or vanished Transaction at
 *             once; any other only when it has not changed for its whole duration by our own clock. That holds for a Lease,
 *             too, that somebody has written in the name of a Transaction without such a target. One that is free is
 *             left to who goes before us: so nobody who waits is overtaken again and again.
 */
export const acquire = (situation: Situation, targets: ReadonlyMap<number, Place>): Locking => {
  const { locks } = situation.known;
  const wanted = inOrder(situation, targets);
  const missing = wanted.filter(({ index }) => !isSafe(locks.get(index), situation));
  const problems = new Map(
    missing.flatMap(({ index, target }) => {
      const sight = locks.get(index);
      return sight?.at === "impossible" ? [[index, `${show(target)}: ${sight.why}`] as const] : [];
    }),
  );
  if (problems.size > 0) return { at: "refused", problems };
  const first = missing[0];
  if (first === undefined) return { at: "held" };
  const isBlocked = ({ index, place }: Wanted): boolean =>
    locks.get(index)?.at === "theirs" || situation.ahead(place) !== undefined;
  const next = (missing.some(isBlocked) ? [first] : missing).map((one) => ({
    ...one,
    to: approach(situation, one),
  }));
  for (const blocked of next)
    if ("until" in blocked.to) {
      const after = wanted.filter((one) => order(one) > order(blocked));
      const back = after.flatMap(({ index, place }) => giveBack(situation, index, place));
      // Who holds others already, under which changes were made, does not take these in the one order of all.
      const asking = situation.txn.status.phase === "Committing" ? askFor(situation, blocked.index) : [];
      return waitingFor(blocked, blocked.to, [...back, ...asking]);
    }
  return { at: "going", effects: next.flatMap(({ to }) => ("until" in to ? [] : [to])) };
};

/**
 * Takes the locks of targets again that may be half rolled back: after a crash, or when what could not be rolled back is tried again.
 *
 * Guarantees: none is ever given back; those that are ours are found and renewed side by side, whichever is needed; of those that
 *             are needed now, and that others hold, one is taken after the other in the global order, and who has touched nothing is
 *             asked to give way. One that cannot be had at all, as in a namespace that is being deleted, is left out.
 */
export const reacquire = (
  situation: Situation,
  targets: ReadonlyMap<number, Place>,
  needed: readonly number[],
): Locking => {
  const { locks } = situation.known;
  const missing = inOrder(situation, targets).filter(({ index }) => {
    const sight = locks.get(index);
    return sight?.at !== "impossible" && !isSafe(sight, situation);
  });
  const atOnce = missing.flatMap(({ index, place }): readonly Effect[] => {
    const sight = locks.get(index);
    if (sight === undefined || (sight.at === "held" && sight.stale)) return [look(situation, index, place, false)];
    return sight.at === "held" ? [claim(situation, index, place, sight)] : [];
  });
  if (atOnce.length > 0) return { at: "going", effects: atOnce };
  const first = missing.find(({ index }) => needed.includes(index));
  if (first === undefined) return { at: "held" };
  const to = approach(situation, first);
  if (!("until" in to)) return { at: "going", effects: [to] };
  return waitingFor(first, to, askFor(situation, first.index));
};

/** Asks the holder of a lock for it, once, if that has touched nothing. */
const askFor = (situation: Situation, index: number): readonly Ask[] => {
  const sight = situation.known.locks.get(index);
  if (sight?.at !== "theirs" || sight.judged !== "untouched" || sight.isAsked) return [];
  const holder = parseHolder(sight.holder);
  return holder === undefined ? [] : [askForTheWay(situation, index, holder)];
};

const renewal = (
  situation: Situation,
  index: number,
  target: Place,
  sight: Extract<LockSight, { at: "held" }>,
): Ask => {
  const place = lockPlace(target, situation.settings.controllerNamespace);
  return sight.stale ? look(situation, index, place, true) : claim(situation, index, place, sight);
};

/**
 * Renewals that are due: before a third of the duration has passed, and not again at once after one that did not get
 * through. They go on in the background, whatever the phase.
 */
export const renewals = (situation: Situation, targets: ReadonlyMap<number, Place>): readonly Ask[] =>
  [...targets].flatMap(([index, target]) => {
    const { known, now } = situation;
    const sight = known.locks.get(index);
    if (sight?.at !== "held" || now < (sight.retryAt ?? now)) return [];
    const isDue = sight.until - now <= (lockDuration(situation) * 3) / 4;
    return isDue ? [renewal(situation, index, target, sight)] : [];
  });

/**
 * Makes sure of locks that were taken before, perhaps by a former process.
 *
 * @returns Left: why one of them is lost. Right: what is still to be asked; nothing when all of them are safe.
 */
export const hold = (situation: Situation, targets: ReadonlyMap<number, Place>): E.Either<string, readonly Ask[]> => {
  const effects: Ask[] = [];
  for (const [index, target] of targets) {
    const sight = situation.known.locks.get(index);
    if (sight?.at === "lost" || sight?.at === "impossible")
      return E.left(`the lock on ${show(target)} was lost: ${sight.why}`);
    if (isSafe(sight, situation)) continue;
    const place = lockPlace(target, situation.settings.controllerNamespace);
    effects.push(sight?.at === "held" ? renewal(situation, index, target, sight) : look(situation, index, place, true));
  }
  return E.right(effects);
};
