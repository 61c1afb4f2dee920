import { parseHolder } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask, Effect, Telling } from "./effect.ts";
import type { Instant } from "./instant.ts";
import type { LockSight } from "./known.ts";
import { type Place, show } from "./object.ts";
import type { Situation } from "./situation.ts";

import { claim, create, judge, LOOK_AGAIN, lockDuration, lockPlace, look, release } from "./lease.ts";

/** The next request that brings us nearer to this lock; a pause where only waiting helps. */
const approach = (
  situation: Situation,
  index: number,
  place: Place,
  mine: boolean,
): Effect | { readonly until: Instant; readonly because: string } => {
  const { known, now } = situation;
  const sight = known.locks.get(index);
  if (sight === undefined) return mine ? look(situation, index, place, mine) : create(situation, index, place);
  if (sight.at === "held" && !sight.stale) return claim(situation, index, place, sight);
  if (sight.at !== "theirs" || now >= sight.looked + LOOK_AGAIN) return look(situation, index, place, mine);
  const holder = parseHolder(sight.holder);
  if (holder !== undefined && sight.judged === undefined) return judge(index, holder);
  if (holder === undefined ? now >= sight.expires : sight.judged === "over")
    return claim(situation, index, place, sight);
  return { until: sight.looked + LOOK_AGAIN, because: `${place.namespace}/${place.name} is held by ${sight.holder}` };
};

export type Locking =
  | { readonly at: "held" }
  | { readonly at: "going"; readonly effects: readonly Effect[] }
  | {
      readonly at: "waiting";
      readonly until: Instant;
      readonly because: string;
      readonly tell: Telling;
      readonly effects: readonly Effect[];
    }
  | { readonly at: "refused"; readonly problems: ReadonlyMap<number, string> };

const order = (place: Place): string => `${place.namespace ?? ""}/${place.name}`;

/** A lock is safe for a write when it is good for longer than the write can take. */
export const isSafe = (sight: LockSight | undefined, { now, settings }: Situation): boolean =>
  sight?.at === "held" && sight.until > now + settings.writeTimeout;

/**
 * Takes the locks of these targets.
 *
 * Guarantees: at first all are tried side by side; as soon as one is held by somebody else, what comes after it in one
 *             global order (namespace and name of the Lease) is given back, and the rest is taken one by one in that order:
 *             so no two Transactions can wait for each other.
 *             A lock of a live, unfinished Transaction is never taken over; one of a finished or vanished Transaction at
 *             once; any other only when it has not changed for its whole duration by our own clock.
 */
export const acquire = (situation: Situation, targets: ReadonlyMap<number, Place>): Locking => {
  const { known } = situation;
  const wanted = [...targets]
    .map(([index, target]) => ({ index, target, place: lockPlace(target, situation.settings.controllerNamespace) }))
    .toSorted((a, b) => (order(a.place) < order(b.place) ? -1 : 1));
  const missing = wanted.filter(({ index }) => !isSafe(known.locks.get(index), situation));
  const problems = new Map(
    missing.flatMap(({ index, target }) => {
      const sight = known.locks.get(index);
      return sight?.at === "impossible" ? [[index, `${show(target)}: ${sight.why}`] as const] : [];
    }),
  );
  if (problems.size > 0) return { at: "refused", problems };
  const first = missing[0];
  if (first === undefined) return { at: "held" };
  const next = (known.queueing ? [first] : missing).map(({ index, place }) => ({
    index,
    place,
    to: approach(situation, index, place, false),
  }));
  const blocked = next.find(({ to }) => "until" in to);
  if (blocked === undefined) return { at: "going", effects: next.flatMap(({ to }) => ("until" in to ? [] : [to])) };
  const after = wanted.filter(
    ({ index, place }) => order(place) > order(blocked.place) && known.locks.get(index)?.at === "held",
  );
  const because = "because" in blocked.to ? `waiting for a lock: Lease ${blocked.to.because}` : "";
  return {
    at: "waiting",
    until: "until" in blocked.to ? blocked.to.until : situation.now,
    because,
    tell: { type: "Normal", reason: "LockWaiting", message: because },
    effects: after.flatMap(({ index, place }) => release(situation, index, place)),
  };
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

/** Renewals that are due: before a third of the duration has passed. They go on in the background, whatever the phase. */
export const renewals = (situation: Situation, targets: ReadonlyMap<number, Place>): readonly Ask[] =>
  [...targets].flatMap(([index, target]) => {
    const sight = situation.known.locks.get(index);
    const due = sight?.at === "held" && sight.until - situation.now <= (lockDuration(situation) * 3) / 4;
    return due ? [renewal(situation, index, target, sight)] : [];
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
