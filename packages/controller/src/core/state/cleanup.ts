// The state of the cleanup of snapshot stores.

/**
 * How a snapshot store is released from the finalizer that keeps it.
 *
 * owned: kept, and deleted with the Transaction.
 * orphaned: kept after the Transaction is gone, with a label to find it.
 * free: about to be deleted.
 * kept: needed for a later attempt to restore from it.
 */
export type ReleaseTo = "owned" | "orphaned" | "free" | "kept";

/** The cleanup of one store so far. */
export interface StoreCleanup {
  readonly released: ReadonlySet<ReleaseTo>;
  /** Steps that the API server rejected before the terminal phase, which does not wait for them: the final cleanup takes them. */
  readonly postponed: ReadonlySet<ReleaseTo | "deleted">;
}

/** The cleanup that this process has done or reported: it is not done again. */
export interface Cleanup {
  /** The changes whose locks are released, or do not exist. */
  readonly locks: ReadonlySet<number>;
  /** Cleanups by the uid of the store. */
  readonly stores: ReadonlyMap<string, StoreCleanup>;
  /** The journal is deleted, or labelled as orphaned. */
  readonly isJournalReleased?: true;
  /** Everything was searched once more after no create could take effect any more. */
  readonly isSwept?: true;
  /** The Transaction is deleted, since its time to live has passed. */
  readonly isExpired?: true;
  /** Messages about a Transaction that is not processed, whether or not the API server accepted them as its conditions. */
  readonly reported: ReadonlySet<string>;
}

export const NOTHING_CLEANED_UP: Cleanup = { locks: new Set(), stores: new Map(), reported: new Set() };

const UNTOUCHED: StoreCleanup = { released: new Set(), postponed: new Set() };

export const storeCleanup = ({ stores }: Cleanup, uid: string): StoreCleanup => stores.get(uid) ?? UNTOUCHED;

export const withLockReleased = (cleanup: Cleanup, index: number): Cleanup => ({
  ...cleanup,
  locks: new Set([...cleanup.locks, index]),
});

export const withStoreReleased = (cleanup: Cleanup, uid: string, to: ReleaseTo): Cleanup => {
  const store = storeCleanup(cleanup, uid);
  const released = new Set([...store.released, to]);
  return { ...cleanup, stores: new Map(cleanup.stores).set(uid, { ...store, released }) };
};

export const withStorePostponed = (cleanup: Cleanup, uid: string, what: ReleaseTo | "deleted"): Cleanup => {
  const store = storeCleanup(cleanup, uid);
  const postponed = new Set([...store.postponed, what]);
  return { ...cleanup, stores: new Map(cleanup.stores).set(uid, { ...store, postponed }) };
};

export const withReported = (cleanup: Cleanup, message: string): Cleanup => ({
  ...cleanup,
  reported: new Set([...cleanup.reported, message]),
});
