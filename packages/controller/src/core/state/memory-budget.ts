import type { KubeObject } from "@janus/types";
import { outline } from "../kubernetes/outline.ts";
import type { ApiCall } from "./effect.ts";
import type { Observations, StoreData } from "./observations.ts";
import { newest, sizeOf } from "../kubernetes/object-size.ts";

const MiB = 2 ** 20;

/** What the targets of a Transaction may take in memory, in bytes: what has been read of them, … */
export const MOST_LIVE = 2 * MiB;
/** … beyond which their snapshots are written, and they themselves let go of, before others are read. */
export const ENOUGH_LIVE = MiB;

export const sizeOfTarget = (object: KubeObject | undefined): number => (object === undefined ? 0 : sizeOf(object));

export const sizeOfData = (data: StoreData): number =>
  "data" in data ? [...data.data.values()].reduce((sum, text) => sum + text.length, 0) : 0;

/** Whether what was read of stores is more than is kept to save requests. */
export const exceedsMemory = (storeData: Observations["storeData"]): boolean =>
  newest(storeData, ENOUGH_LIVE, sizeOfData) !== storeData;

/**
 * Lets go of what was kept only to save a request, as far as it is much: snapshots are in their stores, and targets are read again.
 *
 * Assumes: all snapshots are recorded, and no change is under way.
 */
const trimmed = (known: Observations): Observations => ({
  ...known,
  live: newest(known.live, ENOUGH_LIVE, ({ object }) => sizeOfTarget(object)),
  before: newest(known.before, ENOUGH_LIVE, sizeOfTarget),
  goals: newest(known.goals, ENOUGH_LIVE, sizeOf),
  storeData: newest(known.storeData, ENOUGH_LIVE, sizeOfData),
});

/** A checkpoint after which nothing is under way, and what is only kept to save requests may be let go of. */
export const trimming = (request: ApiCall): ApiCall => ({
  ...request,
  onAnswer: (...answer) => trimmed(request.onAnswer(...answer)),
});

/** The body of each of these is let go of. */
export const outlined = (known: Observations, indices: Iterable<number>): Observations => {
  const live = new Map(known.live);
  for (const index of indices) {
    const seen = live.get(index);
    if (seen?.object !== undefined && !seen.isOutline)
      live.set(index, { ...seen, object: outline(seen.object), isOutline: true });
  }
  return { ...known, live };
};
