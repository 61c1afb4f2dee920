// Limits the memory of targets and snapshots of one Transaction.
import { type KubeObject, sizeOf } from "@janus/types";
import { outline } from "../kubernetes/outline.ts";
import type { ApiCall } from "./effect.ts";
import { type ChangeObservations, mapChanges, type Observations } from "./observations.ts";
import type { StoreData } from "./store-observations.ts";

const MiB = 2 ** 20;

/** The maximum memory of the targets of a Transaction, in bytes: how much may be read, … */
export const MOST_LIVE = 2 * MiB;
/** … and beyond which their snapshots are written, and they are removed from memory, before others are read. */
export const ENOUGH_LIVE = MiB;

export const sizeOfObject = (object: KubeObject | undefined): number => (object === undefined ? 0 : sizeOf(object));

export const sizeOfData = (data: StoreData): number =>
  data.type === "data" ? [...data.data.values()].reduce((sum, text) => sum + text.length, 0) : 0;

/** The newest entries whose total size is at most this many bytes. */
const newest = <K, V>(map: ReadonlyMap<K, V>, most: number, size: (value: V) => number): ReadonlyMap<K, V> => {
  let left = most - [...map.values()].reduce((sum, value) => sum + size(value), 0);
  if (left >= 0) return map;
  return new Map(
    [...map].filter(([, value]) => {
      const goes = left < 0;
      if (goes) left += size(value);
      return !goes;
    }),
  );
};

/** Whether the store data that was read exceeds what is kept to save requests. */
export const exceedsMemory = (storeData: Observations["storeData"]): boolean =>
  newest(storeData, ENOUGH_LIVE, sizeOfData) !== storeData;

/** Removes a part of the observations of the changes, of the least recently observed ones first, if these parts are large together. */
const withoutOldest = (
  known: Observations,
  object: (observed: ChangeObservations) => KubeObject | undefined,
  left: (observed: ChangeObservations) => ChangeObservations,
): Observations => {
  const enough = newest(known.changes, ENOUGH_LIVE, (observed) => sizeOfObject(object(observed)));
  return enough === known.changes
    ? known
    : mapChanges(known, (observed, index) => (enough.has(index) ? observed : left(observed)));
};

export const withoutTarget = (observed: ChangeObservations): ChangeObservations => ({ ...observed, target: undefined });
export const withoutBefore = (observed: ChangeObservations): ChangeObservations => ({ ...observed, before: undefined });
export const withoutGoal = (observed: ChangeObservations): ChangeObservations =>
  observed.rollback === undefined ? observed : { ...observed, rollback: { ...observed.rollback, goal: undefined } };

/**
 * Removes from memory what was kept only to save requests, if it is large: snapshots are in their stores, and
 * targets are read again.
 *
 * Assumes: all snapshots are recorded, and no change is in progress.
 */
export const trimmed = (known: Observations): Observations => {
  const targets = withoutOldest(known, ({ target }) => target?.object, withoutTarget);
  const before = withoutOldest(targets, (observed) => observed.before, withoutBefore);
  const goals = withoutOldest(before, ({ rollback }) => rollback?.goal, withoutGoal);
  return { ...goals, storeData: newest(known.storeData, ENOUGH_LIVE, sizeOfData) };
};

/** A checkpoint after which nothing is in progress, so that memory can be trimmed. */
export const trimming = (request: ApiCall): ApiCall => ({
  ...request,
  folds: [...request.folds, { type: "memory-trimmed" }],
});

/** Drops the body of its target. */
export const outlined = (observed: ChangeObservations): ChangeObservations => {
  const { target } = observed;
  return target?.type === "read"
    ? { ...observed, target: { ...target, type: "outline", object: outline(target.object) } }
    : observed;
};
