// All Transactions in the memory of this process, with a bound on those that wait.
import { atRest, outlineAtRest, restingBytes } from "../../core/index.ts";
import { queueKey, type TrackedTransaction } from "./tracked-transaction.ts";

/** How much memory those at rest may take, in bytes: about 60 Transactions of 500 changes, or 3,000 of ten. */
const MOST_RESTING = 32 * 2 ** 20;

/** The Transactions that this process reconciles. */
export interface TrackedTransactions {
  readonly all: () => readonly TrackedTransaction[];
  readonly of: (uid: string) => TrackedTransaction | undefined;
  /** The Transactions with this key that exist, and those that had it before. */
  readonly under: (key: string) => readonly TrackedTransaction[];
  /** It is reconciled now, instead of what was known of it before. */
  readonly work: (tracked: TrackedTransaction) => void;
  /** It waits: what it does not need meanwhile is dropped from memory. */
  readonly rest: (tracked: TrackedTransaction) => void;
  readonly forget: (uid: string) => void;
}

/** The Transactions at rest of one namespace, with their sizes. Those that have been at rest for longest come first. */
interface Share {
  readonly whole: Map<TrackedTransaction, number>;
  readonly outlines: Map<TrackedTransaction, number>;
  bytes: number;
}

/**
 * Guarantees: those at rest take a bounded amount of memory. Beyond that, the namespace that takes most of it gives some back:
 *             of those that have been at rest for longest, first all but an outline is dropped, then the outlines are; they
 *             are read again in their turn, as after a restart.
 *
 * @param onForget one was dropped altogether
 */
export const trackedTransactions = (
  onForget: (uid: string) => void,
  most: number = MOST_RESTING,
): TrackedTransactions => {
  const byUid = new Map<string, TrackedTransaction>();
  const byKey = new Map<string, Set<TrackedTransaction>>();
  const shares = new Map<string, Share>();
  let bytes = 0;

  const put = (tracked: TrackedTransaction): void => {
    const { namespace } = tracked.txn.metadata;
    const share = shares.get(namespace) ?? { whole: new Map(), outlines: new Map(), bytes: 0 };
    const size = restingBytes(tracked);
    (tracked.isOutline ? share.outlines : share.whole).set(tracked, size);
    shares.set(namespace, share);
    share.bytes += size;
    bytes += size;
  };

  const take = (tracked: TrackedTransaction): void => {
    const { namespace } = tracked.txn.metadata;
    const share = shares.get(namespace);
    if (share === undefined) return;
    const size = share.whole.get(tracked) ?? share.outlines.get(tracked) ?? 0;
    share.whole.delete(tracked);
    share.outlines.delete(tracked);
    share.bytes -= size;
    bytes -= size;
    if (share.whole.size + share.outlines.size === 0) shares.delete(namespace);
  };

  const remove = (tracked: TrackedTransaction): void => {
    take(tracked);
    byUid.delete(tracked.txn.metadata.uid);
    const key = queueKey(tracked.txn);
    const others = byKey.get(key);
    others?.delete(tracked);
    if (others?.size === 0) byKey.delete(key);
  };

  const forget = (uid: string): void => {
    const tracked = byUid.get(uid);
    if (tracked === undefined) return;
    remove(tracked);
    onForget(uid);
  };

  /** Shrinks it to an outline. There is none of one that is gone: what is left to release of it cannot be read again. */
  const shrink = (tracked: TrackedTransaction): void => {
    if (tracked.isOutline || tracked.isForceDeleted) return forget(tracked.txn.metadata.uid);
    take(tracked);
    Object.assign(tracked, outlineAtRest(tracked), { isOutline: true });
    put(tracked);
  };

  /** The one to shrink next; undefined if there is room enough. */
  const next = (): TrackedTransaction | undefined => {
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
      const { uid } = tracked.txn.metadata;
      const key = queueKey(tracked.txn);
      const former = byUid.get(uid);
      if (former !== undefined) remove(former);
      tracked.isOutline = false;
      byUid.set(uid, tracked);
      byKey.set(key, (byKey.get(key) ?? new Set()).add(tracked));
    },
    rest: (tracked) => {
      if (byUid.get(tracked.txn.metadata.uid) !== tracked) return;
      Object.assign(tracked, atRest(tracked));
      take(tracked);
      put(tracked);
      for (let one = next(); one !== undefined; one = next()) shrink(one);
    },
    forget,
  };
};
