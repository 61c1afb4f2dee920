import type { Instant } from "../kubernetes/time.ts";
import { type Cleanup, NOTHING_CLEANED_UP } from "./cleanup.ts";
import type { Journal } from "./journal.ts";
import type { Version } from "../kubernetes/kube-object.ts";
import type { FieldDifference, RenderedChange, SnapshotStore } from "@janus/api";
import type { Listing, Owned } from "./listings.ts";
import type { FieldValue } from "../merge/version-loss.ts";
import type { KubeObject, Resource } from "@janus/types";

/**
 * What this process has observed of a Transaction since it took it up. None of it is recorded: it is lost with
 * the process, and can all be observed again.
 */
export interface Observations {
  readonly since: Instant;
  /** This process has started it. */
  readonly begun?: true;
  /** By `apiVersion/kind`; `null` where it is not served. */
  readonly resources: ReadonlyMap<string, Resource | null>;
  readonly serviceAccount?: "there" | "missing";
  /** A target of a Draft has changed since it was rendered. */
  readonly targetsChanged?: true;
  /** The Transaction's own namespace. */
  readonly namespace?: { readonly isGoing: boolean; readonly readAt: Instant };
  readonly journal?: Journal | NoJournal;
  /**
   * A later version of the controller wrote its journal or a snapshot: why it is not processed, and when that
   * was read.
   */
  readonly later?: { readonly why: string; readonly readAt: Instant };
  /** By change. What was heard of last comes last. */
  readonly changes: ReadonlyMap<number, ChangeObservations>;
  /** Since when it has held a lock without applying a change. */
  readonly holdsSince?: Instant;
  /** When it released its locks to let others go first. */
  readonly yieldedAt?: Instant;
  /** The Transaction that has requested its locks, as of when it was read. */
  readonly yieldRequester?: { readonly uid: string; readonly phase: unknown; readonly readAt: Instant };
  /** What the ServiceAccount may not do to all targets of a kind in a namespace, so that it is asked for one by one; see `permissions.ts`. */
  readonly deniedForAll: ReadonlySet<string>;
  /** Objects with owners, by namespace; `""`: everywhere. */
  readonly owned: ReadonlyMap<string, readonly Owned[]>;
  /** Kinds that could not be listed for this, by namespace in the same way. */
  readonly listings: ReadonlyMap<string, Listing>;
  /** Snapshot stores by number. */
  readonly stores: ReadonlyMap<number, StoreObservation>;
  /** Stores as they were last read or written, as `kind/name`. */
  readonly found: ReadonlyMap<string, StoreListing>;
  /** Stores that a newer one has replaced in the journal. */
  readonly obsolete: readonly SnapshotStore[];
  /** Data of the stores that were read, by `kind/name`. */
  readonly storeData: ReadonlyMap<string, StoreData>;
  readonly cleanup: Cleanup;
  /** Since when the controller itself lacks a permission, by request; see `handle-answer.ts`. */
  readonly denied: ReadonlyMap<string, Instant>;
  /** Objects of the controller's own that could not be created, since they exist, and were not seen since; see `handle-answer.ts`. */
  readonly taken: ReadonlySet<string>;
  /** When an item was last rolled back. */
  readonly restoredAt?: Instant;
  /** When the last create of a Lease, a store or the journal was sent that was not answered. */
  readonly unansweredCreate?: Instant;
  readonly projectedAt: Instant;
  /** Requests fail: since when, and when that was reported last. */
  readonly retryingSince?: { readonly since: Instant; readonly reportedAt?: Instant };
}

/** What this process has learned of one change: of its target, of the lock on that, and of the writes to it. */
export interface ChangeObservations {
  readonly lock?: LockObservation | undefined;
  /** Of an Apply: whether the target existed before it was locked. */
  readonly existedAtFirst?: boolean | undefined;
  /** The last live read of the target, as long as it says something. */
  readonly target?: TargetObservation | undefined;
  /** Whether the ServiceAccount may do what the change and its rollback do to the target, by verb. */
  readonly permissions?: ReadonlyMap<string, "allowed" | "denied"> | undefined;
  /** When these were asked for last, in the turn of the change. */
  readonly permissionsReadAt?: Instant | undefined;
  /** Since when it has been asked again, in the turn of the change, what the preflight could not find out, and when that was last. */
  readonly lateCheck?: { readonly since: Instant; readonly at: Instant } | undefined;
  /** What the preflight found; an empty list: nothing is in the way. */
  readonly problems?: readonly string[] | undefined;
  /** Whether the ServiceAccount may not put back what the change takes away of permissions, in this state of the target. */
  readonly regrant?: { readonly resourceVersion: string | undefined; readonly isDenied: boolean } | undefined;
  /** What a write in the version that the change names would lose of it. */
  readonly otherVersions?: OtherVersions | undefined;
  /** What its last dry run came to, for a render. */
  readonly rendered?: DryRunResult | undefined;
  /** The result of its dry run, for a preview. */
  readonly dryRun?: KubeObject | undefined;
  /** Where the snapshot is, until it is recorded. */
  readonly snapshot?: SnapshotRef | undefined;
  /** What was there before the change, as far as it is in memory. */
  readonly before?: KubeObject | undefined;
  /** The uids of the owners that the snapshot names. */
  readonly ownersBefore?: readonly string[] | undefined;
  /** What has become of the write that makes the change, until that is recorded; undefined: none was sent. */
  readonly write?: Write | undefined;
  /**
   * The write was answered as if nothing were served at its path. A proxy may say so of what it has passed on: every write but a
   * Delete can be recognized in its target.
   */
  readonly metUnserved?: true | undefined;
  /** Whether its field managers were folded, or cannot be; see `fold-managers.ts`. */
  readonly folded?: true | undefined;
  /** Why the change must not or cannot be made, so that nothing more is. */
  readonly abortCause?: AbortCause | undefined;
  /** When the change, which depends on an earlier one, was first refused for now. */
  readonly triedSince?: Instant | undefined;
  /** Its gates: why the target cannot be looked at, or what a workload lacks, with its Pods. */
  readonly gate?: GateObservations | undefined;
  /** A write that was refused as if its target had moved. */
  readonly unchangedConflict?: UnchangedConflict | undefined;
  readonly rollback?: RollbackObservations | undefined;
}

/** What a target is in other versions of its kind. */
export interface OtherVersions {
  /** Of the object that was read in its own. */
  readonly resourceVersion: string | undefined;
  /** By apiVersion. */
  readonly versions: ReadonlyMap<string, OtherVersion>;
}

/**
 * differs: it has fields that it has not in its own; whether they would be lost is to be tried.
 * richer: it would lose these fields, in words. denied: the ServiceAccount may not try that (yet).
 */
export type OtherVersion =
  | { readonly type: "same" }
  | { readonly type: "differs"; readonly only: readonly FieldValue[]; readonly there: KubeObject }
  | { readonly type: "richer"; readonly fields: string }
  | { readonly type: "denied" };

/** What a dry run has shown, without the objects. */
export interface DryRunResult {
  readonly result: RenderedChange["result"];
  /** The first fields that differ, and how many more do. */
  readonly diff: readonly FieldDifference[];
  readonly more: number;
  /** A hash over all of it, and of the content of what is deleted. */
  readonly hash: string;
  /** How much memory the target took. */
  readonly bytes: number;
}

/** What this process has learned of a target that is waited for. */
export interface GateObservations {
  /** When somebody last said that it had changed. */
  readonly changedAt?: Instant | undefined;
  /** Why it may not be read. */
  readonly unreadable?: string | undefined;
  /** Since when reads of it are not answered, when the last one was not, and why: its API may not be available. */
  readonly unanswered?: { readonly since: Instant; readonly at: Instant; readonly message: string } | undefined;
  /** What is wrong with a workload, and when its Pods were looked at for that. */
  readonly explained?: { readonly at: Instant; readonly message: string } | undefined;
}

export interface Refusal {
  readonly why: string;
  readonly at: Instant;
}

/** What this process has learned of the rollback of one change. */
export interface RollbackObservations {
  /** Requests that were not answered, or refused for now: one after the other. */
  readonly failedAttempt?: FailedAttempt | undefined;
  /** Why the API server will not have it, in words, and when it said so. */
  readonly refusal?: Refusal | undefined;
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
 * taken: an object of its name exists; altered: it exists, and is not a valid journal any more; later: a later
 *        version of the controller wrote it.
 */
export type NoJournal =
  | { readonly type: "missing" }
  | { readonly type: "later"; readonly storeNames: number }
  | { readonly type: "taken" }
  | { readonly type: "altered"; readonly version: Version; readonly storeNames: number }
  | JournalRefused;

/** The API server rejects it: its namespace is being deleted, or a quota is exceeded. */
export interface JournalRefused {
  readonly type: "refused";
  readonly why: string;
  readonly since: Instant;
}

/** The journal, if it was read and is valid. */
export const journalIn = ({ journal }: Observations): Journal | undefined =>
  journal !== undefined && "position" in journal ? journal : undefined;

/** See {@link Journal.storeNames}. */
export const storeNamesIn = ({ journal }: Observations): number =>
  journal !== undefined && "storeNames" in journal ? journal.storeNames : 0;

/** The stores of a snapshot and of those written with it, and the name of the first one. */
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
 * unanswered: the write may have been applied; so may one of a former leader, sent before this process took
 *             over.
 * refused: the API server rejected the write.
 * accepted: a deletion that finalizers delay.
 */
export type Attempt =
  | { readonly type: "unanswered"; readonly sent: Instant }
  | {
      readonly type: "refused";
      readonly sent: Instant;
      readonly code: number;
      readonly message: string;
      /** Because the target was absent or modified. */
      readonly moved?: true;
      /** When the same write was sent before without a response. It may have been applied, or may still be. */
      readonly unanswered?: Instant;
    }
  | { readonly type: "accepted"; readonly sent: Instant };

/** When a write was last sent that may have been applied without a response. */
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
    | "RollbackRequested"
    | "GateFailed";
  readonly message: string;
  /** The fate of the change at the cursor. */
  readonly fate: "not-sent" | "rejected" | "unknown" | "applied";
  /** Which gate of the change before it was not met, and how its target was last. */
  readonly unmetGate?: string;
}

export interface UnchangedConflict {
  readonly at: Instant;
  readonly message: string;
  /** The version of the target that the write was decided on; absent if there was none. */
  readonly resourceVersion: string | undefined;
}

export interface FailedAttempt {
  readonly at: Instant;
  readonly count: number;
  readonly message: string;
}

/** The conflict of a write that was rejected although this is the target that it was decided on. */
export const unchangedConflict = (
  known: Observations,
  index: number,
  object: KubeObject | undefined,
): UnchangedConflict | undefined => {
  const conflict = changeIn(known, index).unchangedConflict;
  return conflict?.resourceVersion === object?.metadata.resourceVersion ? conflict : undefined;
};

/** As far as it could be listed: since when, and when it was listed last. */
export interface Contents extends Listing {
  readonly owned: readonly Owned[];
}

export type StoreData = { readonly data: ReadonlyMap<string, string> } | { readonly broken: string };

/** A snapshot store while stores are being written; "taken": an object of its name exists. */
export type StoreObservation = SnapshotStore | "taken" | "left-over" | { readonly unusable: string };

/** nothing: there is none of this name. theirs: it does not belong to this Transaction. */
export type StoreListing = "nothing" | "theirs" | OurStore;

/** An object with this Transaction's uid. */
export interface OurStore extends Version {
  readonly finalizers: readonly string[];
  /** A later version of the controller wrote it. */
  readonly isLater?: true;
}

/** A lock as this process last observed it. */
export type LockObservation =
  | {
      readonly type: "held";
      readonly version: Version;
      readonly until: Instant;
      /** The Lease was written since, perhaps by us: it is read before it is written again. */
      readonly stale?: true;
      /** When a failed renewal is retried. */
      readonly retryAt?: Instant;
    }
  /** A Lease exists; its holder has to be read. */
  | { readonly type: "taken" }
  /** There was no Lease when it was read. */
  | { readonly type: "free" }
  | {
      readonly type: "theirs";
      readonly holder: string;
      readonly version: Version;
      readonly readAt: Instant;
      readonly unchangedSince: Instant;
      readonly expires: Instant;
      /**
       * The state of its holder, if that is a Transaction. foreign: a Transaction without this target, so that
       * another client wrote the Lease.
       */
      readonly holderState?: "untouched" | "active" | "rolling-back" | "finished" | "foreign";
      /** Its holder was requested to yield. */
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
  cleanup: NOTHING_CLEANED_UP,
  denied: new Map(),
  taken: new Set(),
  projectedAt: since,
});

/** Observations so far are outdated. The former states stay true. */
export const reset = ({ resources, changes, journal }: Observations, now: Instant): Observations => ({
  ...noObservations(now),
  // A kind that was not served may be served by now.
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

/** With what was learned of a target that is waited for. */
export const withGate = (known: Observations, index: number, observed: GateObservations): Observations =>
  withChange(known, index, { gate: { ...changeIn(known, index).gate, ...observed } });

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

/** A copy of the map with one entry set, or removed. */
export const set = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => new Map(map).set(key, value);
export const unset = <K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> => {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
};

/** The target has changed: what was read of it, or is being read, is not how it is now. */
export const withoutRead = (known: Observations, index: number, now: Instant): Observations =>
  withChange(known, index, { target: undefined, gate: { changedAt: now } });

export const isRefused = (journal: Observations["journal"]): journal is JournalRefused =>
  journal !== undefined && "type" in journal && journal.type === "refused";

/** What the API server allocates to a Service, and may not be able to allocate again. */
export type Allocation = "addresses" | "ports";
