import type { Instant } from "../kubernetes/time.ts";
import type { Journal } from "./journal.ts";
import type { Version } from "../kubernetes/kube-object.ts";
import type { SnapshotStore } from "@janus/api";
import type { Listing, Owned } from "./listings.ts";
import type { KubeObject, Resource } from "@janus/types";

/**
 * What this process has learned of a Transaction since it took it up. None of it is recorded: it is lost with the process,
 * and can all be learned again.
 */
export interface Observations {
  readonly since: Instant;
  /** It was this process that began it. */
  readonly begun?: true;
  /** By `apiVersion/kind`; `null` where it is not served. */
  readonly resources: ReadonlyMap<string, Resource | null>;
  readonly serviceAccount?: "there" | "missing";
  /** Of the Transaction's own namespace. */
  readonly namespace?: { readonly isGoing: boolean; readonly readAt: Instant };
  readonly journal?: Journal | NoJournal;
  /** A later version of the controller wrote its journal or a snapshot: why it is left alone, and when that was seen. */
  readonly later?: { readonly why: string; readonly readAt: Instant };
  /** By change. What was heard of last comes last. */
  readonly changes: ReadonlyMap<number, ChangeObservations>;
  /** Since when it has held a lock, having changed nothing. */
  readonly holdsSince?: Instant;
  /** When it gave its locks back to let others go first. */
  readonly yieldedAt?: Instant;
  /** The Transaction that has asked for the way, as of when it was looked at. */
  readonly yieldRequester?: { readonly uid: string; readonly phase: unknown; readonly readAt: Instant };
  /** What the ServiceAccount may not do to all targets of a kind in a namespace, so that it is asked for one by one; see `permissions.ts`. */
  readonly deniedForAll: ReadonlySet<string>;
  /** What names owners, by namespace; `""`: everywhere. */
  readonly owned: ReadonlyMap<string, readonly Owned[]>;
  /** What could not be looked at for that, by namespace in the same way. */
  readonly listings: ReadonlyMap<string, Listing>;
  /** Snapshot stores by number. */
  readonly stores: ReadonlyMap<number, StoreObservation>;
  /** Stores as they were last seen or written, as `kind/name`. */
  readonly found: ReadonlyMap<string, StoreListing>;
  /** Stores that a newer one has taken the place of in the journal. */
  readonly obsolete: readonly SnapshotStore[];
  /** Data of the stores that were read again, by `kind/name`. */
  readonly storeData: ReadonlyMap<string, StoreData>;
  readonly released: ReadonlySet<string>;
  /** Since when the controller itself is denied a permission, by what it asked for; see `handle-answer.ts`. */
  readonly denied: ReadonlyMap<string, Instant>;
  /** When the last write was sent that was not answered and may leave something of ours: a Lease, a store, the journal. */
  readonly unansweredCreate?: Instant;
  readonly projectedAt: Instant;
  /** Requests do not get through: since when, and when people were told last. */
  readonly retryingSince?: { readonly since: Instant; readonly reportedAt?: Instant };
}

/** What this process has learned of one change: of its target, of the lock on that, and of the writes to it. */
export interface ChangeObservations {
  readonly lock?: LockObservation | undefined;
  /** The last live read of the target, as long as it says something. */
  readonly target?: TargetObservation | undefined;
  /** Whether the ServiceAccount may do what the change and its rollback do to the target, by verb. */
  readonly permissions?: ReadonlyMap<string, "allowed" | "denied"> | undefined;
  /** When these were asked for last, in the turn of the change. */
  readonly permissionsReadAt?: Instant | undefined;
  /** What the preflight found; an empty list: nothing is in the way. */
  readonly problems?: readonly string[] | undefined;
  /** Where the snapshot is, until it is recorded. */
  readonly snapshot?: SnapshotRef | undefined;
  /** What was there before the change, as far as it is in memory. */
  readonly before?: KubeObject | undefined;
  /** The uids of the owners that the snapshot names. */
  readonly ownersBefore?: readonly string[] | undefined;
  /** What has become of the write that makes the change, until that is recorded; undefined: none was sent. */
  readonly write?: Write | undefined;
  /** Why the change must not or cannot be made, so that nothing more is. */
  readonly abortCause?: AbortCause | undefined;
  /** When the change, which depends on an earlier one, was first refused for now. */
  readonly triedSince?: Instant | undefined;
  /** A write that was refused as if its target had moved. */
  readonly unchangedConflict?: UnchangedConflict | undefined;
  readonly rollback?: RollbackObservations | undefined;
}

/** What this process has learned of the rollback of one change. */
export interface RollbackObservations {
  /** Requests that were not answered, or refused for now: one after the other. */
  readonly failedAttempt?: FailedAttempt | undefined;
  /** Why the API server will not have it, in words. */
  readonly refusal?: string | undefined;
  /** What is in a Namespace, or of a kind, that the change has created. */
  readonly contents?: Contents | undefined;
  /** How many PUTs it took so far. */
  readonly puts?: number | undefined;
  /** What the target can be rolled back to, where the API server does not take all values of before (see `server-mutations.ts`). */
  readonly goal?: KubeObject | undefined;
  /** What a Service that is created again cannot have again. */
  readonly taken?: readonly Allocation[] | undefined;
  /** Why the target cannot be looked at in the end, of a change that was never made. */
  readonly unseen?: string | undefined;
}

/**
 * taken: something of its name is there; altered: it is, and it is no journal any more; later: a later version of the controller
 * wrote it.
 */
export type NoJournal =
  | { readonly type: "missing" }
  | { readonly type: "later"; readonly storeNames: number }
  | { readonly type: "taken" }
  | { readonly type: "altered"; readonly version: Version; readonly storeNames: number }
  | JournalRefused;

/** The API server will not have it: its namespace is being deleted, a quota is used up. */
export interface JournalRefused {
  readonly type: "refused";
  readonly why: string;
  readonly since: Instant;
}

/** The journal, if it is known and whole. */
export const journalIn = ({ journal }: Observations): Journal | undefined =>
  journal !== undefined && "position" in journal ? journal : undefined;

/** See {@link Journal.storeNames}. */
export const storeNamesIn = ({ journal }: Observations): number =>
  journal !== undefined && "storeNames" in journal ? journal.storeNames : 0;

/** The stores that a snapshot was written to together with others, and the name of the one that it begins in. */
export interface SnapshotRef {
  readonly first: string;
  readonly stores: readonly SnapshotStore[];
}

/** outline: of the object, only what is asked of it once its snapshot is written; see `outline.ts`. */
export type TargetObservation =
  | { readonly type: "absent"; readonly object?: undefined; readonly at: Instant }
  | { readonly type: "read" | "outline"; readonly object: KubeObject; readonly at: Instant };

/** made: the change is in, with the uid of what it created. Of any other one the outcome has to be looked up in the target. */
export type Write = Attempt | { readonly type: "made"; readonly created?: string };

/**
 * unanswered: the write may have been made; so may one of a former leader, as of the time when this process took over.
 * refused:    the API server found something not as the write assumed.
 * accepted:   a deletion that finalizers hold up.
 */
export type Attempt =
  | { readonly type: "unanswered"; readonly sent: Instant }
  | {
      readonly type: "refused";
      readonly sent: Instant;
      readonly code: number;
      readonly message: string;
      /** Because the target was not there, or is not as it was. */
      readonly moved?: true;
      /** An earlier sending of the same write was not answered: when that was. It may have been made, or be made yet. */
      readonly unanswered?: Instant;
    }
  | { readonly type: "accepted"; readonly sent: Instant };

/** When the last sending of a write was that may be made without anybody having heard of it. */
export const unansweredSince = (write: Write | undefined): Instant | undefined => {
  if (write?.type === "unanswered") return write.sent;
  return write?.type === "refused" ? write.unanswered : undefined;
};

export interface AbortCause {
  readonly reason:
    | "CommitFailed"
    | "ConflictDetected"
    | "LockRenewalFailed"
    | "Timeout"
    | "Deleted"
    | "RollbackRequested";
  readonly message: string;
  /** What became of the change at the cursor; `unsent`: it was never on its way. `in`: it is in. */
  readonly fate: "not-sent" | "rejected" | "unknown" | "applied";
}

export interface UnchangedConflict {
  readonly at: Instant;
  readonly message: string;
  /** Of the target that the write was decided on; absent where there was none. */
  readonly resourceVersion: string | undefined;
}

export interface FailedAttempt {
  readonly at: Instant;
  readonly count: number;
  readonly message: string;
}

/** Whether such a write was refused though this is still the target that it was decided on. */
export const unchangedConflict = (
  known: Observations,
  index: number,
  object: KubeObject | undefined,
): UnchangedConflict | undefined => {
  const conflict = changeIn(known, index).unchangedConflict;
  return conflict?.resourceVersion === object?.metadata.resourceVersion ? conflict : undefined;
};

/** As far as it could be listed: since when that is tried, and when it was last. */
export interface Contents extends Listing {
  readonly owned: readonly Owned[];
}

export type StoreData = { readonly data: ReadonlyMap<string, string> } | { readonly broken: string };

/** A snapshot store as far as it is known while stores are being written; "taken": something of that name is there. */
export type StoreObservation = SnapshotStore | "taken" | "left-over" | { readonly unusable: string };

/** nothing: there is none of this name. theirs: there is, and it is not of this Transaction. */
export type StoreListing = "nothing" | "theirs" | OurStore;

/** What bears this Transaction's uid. */
export interface OurStore extends Version {
  readonly finalizers: readonly string[];
  /** A later version of the controller wrote it. */
  readonly isLater?: true;
}

/** A lock as this process last saw it. */
export type LockObservation =
  | {
      readonly type: "held";
      readonly version: Version;
      readonly until: Instant;
      /** Somebody has written the Lease since, perhaps we ourselves; to be looked at before it is written again. */
      readonly stale?: true;
      /** The last renewal did not get through: when the next one is tried. */
      readonly retryAt?: Instant;
    }
  /** A Lease is there; whose it is has to be read. */
  | { readonly type: "taken" }
  /** There was no Lease when it was looked for. */
  | { readonly type: "free" }
  | {
      readonly type: "theirs";
      readonly holder: string;
      readonly version: Version;
      readonly readAt: Instant;
      readonly unchangedSince: Instant;
      readonly expires: Instant;
      /** What its holder is at, if that is a Transaction. stranger: one that has no such target, so that others wrote the Lease. */
      readonly holderState?: "untouched" | "active" | "finished" | "foreign";
      /** Its holder was asked to yield. */
      readonly yieldRequested?: true;
    }
  | { readonly type: "lost"; readonly why: string }
  | { readonly type: "impossible"; readonly why: string };

export const noObservations = (since: Instant): Observations => ({
  since,
  resources: new Map(),
  changes: new Map(),
  deniedForAll: new Set(),
  owned: new Map(),
  listings: new Map(),
  stores: new Map(),
  found: new Map(),
  obsolete: [],
  storeData: new Map(),
  released: new Set(),
  denied: new Map(),
  projectedAt: since,
});

/** What was seen and met so far says nothing of what is there now. What was there before stays true. */
export const reset = ({ resources, changes, journal }: Observations, now: Instant): Observations => ({
  ...noObservations(now),
  // What was not served may be by now.
  resources: new Map([...resources].filter(([, served]) => served !== null)),
  changes: new Map([...changes].map(([index, { before }]) => [index, { before }])),
  ...(journal === undefined ? {} : { journal }),
});

const NOTHING: ChangeObservations = {};

export const changeIn = ({ changes }: Observations, index: number): ChangeObservations => changes.get(index) ?? NOTHING;

const NO_ROLLBACK: RollbackObservations = {};

export const rollbackIn = (known: Observations, index: number): RollbackObservations =>
  changeIn(known, index).rollback ?? NO_ROLLBACK;

/** With what was learned of these changes; what is undefined of them is not known any more. */
export const withChanges = (
  known: Observations,
  learned: Iterable<readonly [index: number, observed: ChangeObservations]>,
): Observations => {
  const changes = new Map(known.changes);
  for (const [index, observed] of learned) {
    const former = changes.get(index);
    changes.delete(index);
    changes.set(index, { ...former, ...observed });
  }
  return { ...known, changes };
};

/** With what was learned of one change; what is undefined of it is not known any more. */
export const withChange = (known: Observations, index: number, observed: ChangeObservations): Observations =>
  withChanges(known, [[index, observed]]);

/** With what was learned of the rollback of one change. */
export const withRollback = (known: Observations, index: number, observed: RollbackObservations): Observations =>
  withChange(known, index, { rollback: { ...rollbackIn(known, index), ...observed } });

/** With what is left of what is known of each change. Nothing was heard of them: they stay in their order. */
export const mapChanges = (
  known: Observations,
  left: (observed: ChangeObservations, index: number) => ChangeObservations,
): Observations => ({
  ...known,
  changes: new Map([...known.changes].map(([index, observed]) => [index, left(observed, index)])),
});

/** The map with one entry set, or taken out. */
export const set = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => new Map(map).set(key, value);
export const unset = <K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> => {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
};

export const isRefused = (journal: Observations["journal"]): journal is JournalRefused =>
  journal !== undefined && "type" in journal && journal.type === "refused";

/** What the API server hands out to a Service, and may not be able to hand out again. */
export type Allocation = "addresses" | "ports";
