// Keeps the requests that a webhook has seen, until the watch shows what they have changed.
import type { Instant } from "@janus/types";
import type { Entry, KeyedEntry } from "./correlation.ts";

export interface CorrelationLimits {
  /** The life of an entry, in ms. */
  readonly ttl: number;
  readonly keys: number;
  readonly perKey: number;
}

export const CORRELATION_LIMITS: CorrelationLimits = { ttl: 60_000, keys: 10_000, perKey: 10 };

export interface CorrelationEntries {
  readonly put: (keyed: KeyedEntry) => void;
  /** Returns the entries of a key that are not too old, the oldest first. */
  readonly get: (key: string, now: Instant) => readonly Entry[];
  /** Removes an entry: each request is the author of one change only. */
  readonly remove: (key: string, entry: Entry) => void;
  /** The number of entries that were dropped because there were too many. */
  readonly evictions: () => number;
}

/** Drops the oldest entry of a user who has another one, if any: to forget a user would leave another as the author. */
const withoutOne = (entries: readonly Entry[]): readonly Entry[] => {
  const at = entries.findIndex(({ user }, at) => entries.some((other, later) => later > at && other.user === user));
  return entries.toSpliced(Math.max(0, at), 1);
};

/**
 * Makes a bounded store: of too many keys, the one that was put longest ago goes; of too many entries of a key, the oldest of a
 * user who has several. It has no clock of its own.
 */
export const correlationEntries = ({
  ttl,
  keys,
  perKey,
}: CorrelationLimits = CORRELATION_LIMITS): CorrelationEntries => {
  /** Keeps the order in which keys were put: the last is the newest. */
  const all = new Map<string, readonly Entry[]>();
  let evicted = 0;

  const set = (key: string, entries: readonly Entry[]): void => {
    all.delete(key);
    if (entries.length > 0) all.set(key, entries);
  };

  return {
    put: ({ key, entry }) => {
      const young = (all.get(key) ?? []).filter(({ at }) => entry.at - at < ttl);
      const added = [...young, entry];
      evicted += Math.max(0, added.length - perKey);
      set(key, added.length > perKey ? withoutOne(added) : added);
      for (const [oldest, entries] of all) {
        const isOld = entries.every(({ at }) => entry.at - at >= ttl);
        if (!isOld && all.size <= keys) break;
        if (!isOld) evicted += entries.length;
        all.delete(oldest);
      }
    },
    get: (key, now) => (all.get(key) ?? []).filter(({ at }) => now - at < ttl),
    remove: (key, entry) => {
      const left = (all.get(key) ?? []).filter((one) => one !== entry);
      if (left.length === 0) all.delete(key);
      else all.set(key, left);
    },
    evictions: () => evicted,
  };
};
