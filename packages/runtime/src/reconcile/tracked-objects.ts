// The objects in the memory of this process, with a bound on those that wait.
import type { Instant, KubeObject } from "@janus/types";
import { type InstantClock, newClock } from "../process/clock.ts";
import { keyOf } from "../watch/reflector.ts";

/** An object that this process reconciles. */
export interface TrackedObject<Memory> {
  readonly uid: string;
  /** Its key in the work queue: `namespace/name`, or its name if it is cluster-scoped. */
  readonly key: string;
  readonly namespace: string;
  memory: Memory;
  /** The clock of its decisions for as long as it is tracked: its times are in order, whatever the wall clock is set to. */
  readonly now: InstantClock;
  /** For want of memory, only an outline of it is left. */
  isOutline: boolean;
  /** It no longer exists; what it has left is cleaned up under a key of its own. */
  isGone: boolean;
}

export const newTracked = <Memory>(
  object: KubeObject,
  remember: (object: KubeObject, now: Instant) => Memory,
): TrackedObject<Memory> => {
  const { uid = "", namespace = "" } = object.metadata;
  const now = newClock();
  const memory = remember(object, now());
  return { uid, key: keyOf(object), namespace, memory, now, isOutline: false, isGone: false };
};

/** What is kept of an object that waits, and its approximate size in bytes. */
export interface Resting<Memory> {
  /** The part that is kept while there is memory. */
  readonly rest: (memory: Memory) => Memory;
  /** The part that is kept if there is not: it is read again in its turn, as after a restart. */
  readonly outline: (memory: Memory) => Memory;
  readonly bytes: (memory: Memory) => number;
}

/** How much memory those at rest may take, in bytes: about 60 Transactions of 500 changes, or 3,000 of ten. */
const MOST_RESTING = 32 * 2 ** 20;

/** The objects that this process reconciles. */
export interface TrackedObjects<Memory> {
  readonly all: () => readonly TrackedObject<Memory>[];
  readonly of: (uid: string) => TrackedObject<Memory> | undefined;
  /** The objects with this key that exist, and those that had it before. */
  readonly under: (key: string) => readonly TrackedObject<Memory>[];
  /** It is reconciled now, instead of what was known of it before. */
  readonly work: (tracked: TrackedObject<Memory>) => void;
  /** It waits: what it does not need meanwhile is dropped from memory. */
  readonly rest: (tracked: TrackedObject<Memory>) => void;
  /** Nothing is remembered of it any more; unless another one has taken its place. */
  readonly forget: (tracked: TrackedObject<Memory>) => void;
}

/** The objects at rest of one namespace, with their sizes. Those that have been at rest for longest come first. */
interface Share<Memory> {
  readonly whole: Map<TrackedObject<Memory>, number>;
  readonly outlines: Map<TrackedObject<Memory>, number>;
  bytes: number;
}

/**
 * Guarantees: those at rest take a bounded amount of memory. Beyond that, the namespace that takes most of it gives some back:
 *             of those that have been at rest for longest, first all but an outline is dropped, then the outlines are; they
 *             are read again in their turn, as after a restart.
 *
 * @param onForget one was dropped altogether
 */
export const trackedObjects = <Memory>(
  resting: Resting<Memory> | undefined,
  onForget: (uid: string) => void,
  most: number = MOST_RESTING,
): TrackedObjects<Memory> => {
  // Where nothing is said of it, all is kept, and counted as nothing: for few or small objects.
  const keep = (memory: Memory): Memory => memory;
  const { rest, outline, bytes: bytesOf } = resting ?? { rest: keep, outline: keep, bytes: () => 0 };
  const byUid = new Map<string, TrackedObject<Memory>>();
  const byKey = new Map<string, Set<TrackedObject<Memory>>>();
  const shares = new Map<string, Share<Memory>>();
  let bytes = 0;

  const put = (tracked: TrackedObject<Memory>): void => {
    const { namespace } = tracked;
    const share = shares.get(namespace) ?? { whole: new Map(), outlines: new Map(), bytes: 0 };
    const size = bytesOf(tracked.memory);
    (tracked.isOutline ? share.outlines : share.whole).set(tracked, size);
    shares.set(namespace, share);
    share.bytes += size;
    bytes += size;
  };

  const take = (tracked: TrackedObject<Memory>): void => {
    const share = shares.get(tracked.namespace);
    if (share === undefined) return;
    const size = share.whole.get(tracked) ?? share.outlines.get(tracked) ?? 0;
    share.whole.delete(tracked);
    share.outlines.delete(tracked);
    share.bytes -= size;
    bytes -= size;
    if (share.whole.size + share.outlines.size === 0) shares.delete(tracked.namespace);
  };

  const remove = (tracked: TrackedObject<Memory>): void => {
    take(tracked);
    byUid.delete(tracked.uid);
    const others = byKey.get(tracked.key);
    others?.delete(tracked);
    if (others?.size === 0) byKey.delete(tracked.key);
  };

  const forget = (tracked: TrackedObject<Memory>): void => {
    if (byUid.get(tracked.uid) !== tracked) return;
    remove(tracked);
    onForget(tracked.uid);
  };

  /** Shrinks it to an outline. There is none of one that is gone: what is left to clean up of it cannot be read again. */
  const shrink = (tracked: TrackedObject<Memory>): void => {
    if (tracked.isOutline || tracked.isGone) return forget(tracked);
    take(tracked);
    tracked.memory = outline(tracked.memory);
    tracked.isOutline = true;
    put(tracked);
  };

  /** The one to shrink next; undefined if there is room enough. */
  const next = (): TrackedObject<Memory> | undefined => {
    const [first, ...others] = bytes > most ? shares.values() : [];
    if (first === undefined) return undefined;
    const largest = others.reduce((best, share) => (share.bytes > best.bytes ? share : best), first);
    const [oldest] = largest.whole.size > 0 ? largest.whole.keys() : largest.outlines.keys();
    return oldest;
  };

  return {
    all: () => [...byUid.values()],
    of: (uid) => byUid.get(uid),
    under: (key) => [...(byKey.get(key) ?? [])],
    work: (tracked) => {
      const former = byUid.get(tracked.uid);
      if (former !== undefined) remove(former);
      tracked.isOutline = false;
      byUid.set(tracked.uid, tracked);
      byKey.set(tracked.key, (byKey.get(tracked.key) ?? new Set()).add(tracked));
    },
    rest: (tracked) => {
      if (byUid.get(tracked.uid) !== tracked) return;
      tracked.memory = rest(tracked.memory);
      take(tracked);
      put(tracked);
      for (let one = next(); one !== undefined; one = next()) shrink(one);
    },
    forget,
  };
};
