// The observations of a Transaction by this process, all of which can be read again.
import type { SnapshotStore, Target } from "@janus/api";
import type { KubeObject, Resource, Instant } from "@janus/types";
import { type Cleanup, NOTHING_CLEANED_UP } from "./cleanup.ts";
import type { ContentsObservation } from "./contents-observation.ts";
import { type AbortCause, type ForwardObservations, sentWrite } from "./forward-observations.ts";
import { advanced, type Journal, receded } from "./journal.ts";
import type { JournalObservation } from "./journal-observation.ts";
import type { Listing, Owned } from "./listings.ts";
import type { LockObservation } from "./lock-observation.ts";
import type { OwnerObservation } from "./owner-observation.ts";
import type { PreflightObservations, Trial } from "./preflight-observations.ts";
import type { Adoptable, RollbackObservations } from "./rollback-observations.ts";
import type { SnapshotRef, StoreData, StoreListing, StoreObservation } from "./store-observations.ts";
import type { GateObservations, Outage, TargetObservation } from "./target-observations.ts";

/** A kind as a target names it. */
export type ServedKind = Pick<Target, "apiVersion" | "kind">;

/**
 * Observations by this process of a Transaction since it took it up. None of it is recorded: it is lost with the process, and can
 * all be observed again.
 */
export interface Observations {
  readonly since: Instant;
  /** This process has started it. */
  readonly begun?: true;
  /** This process has written the status: so no write of it by a former process can take effect any more. */
  readonly hasRecorded?: true;
  /** Resources by `apiVersion/kind`; `null` where it is not served. */
  readonly resources: ReadonlyMap<string, Resource | null>;
  /** Places, by the same key, where a kind of that name, or one like it, is served, if it is not in this apiVersion. */
  readonly servedIn?: ReadonlyMap<string, readonly ServedKind[]>;
  /** Some kinds could not be discovered. */
  readonly undiscovered?: Outage | undefined;
  readonly serviceAccount?: "there" | "missing";
  /** ConfigMaps and Secrets that have contents of changes, by `kind/name`. */
  readonly contents: ReadonlyMap<string, ContentsObservation>;
  /** A target of a Draft has changed since it was rendered. */
  readonly targetsChanged?: true;
  /** The Transaction's own namespace. */
  readonly namespace?: { readonly isGoing: boolean; readonly readAt: Instant };
  readonly journal?: JournalObservation;
  /**
   * A later version of the controller wrote its journal or a snapshot: why it is not processed, and when that
   * was read.
   */
  readonly later?: { readonly why: string; readonly readAt: Instant };
  /** Observations by change. The most recently observed one is the last. */
  readonly changes: ReadonlyMap<number, ChangeObservations>;
  /** The time since when it has held a lock without applying a change. */
  readonly holdsSince?: Instant;
  /** When it released its locks to let others go first. */
  readonly yieldedAt?: Instant;
  /** The Transaction that has requested its locks, as of when it was read. */
  readonly yieldRequester?: { readonly uid: string; readonly phase: unknown; readonly readAt: Instant };
  /** Permissions that are denied for all targets of a kind in a namespace, and so reviewed one by one; see `permissions.ts`. */
  readonly deniedForAll: ReadonlySet<string>;
  /** Objects with owners, by namespace; `""`: everywhere. */
  readonly owned: ReadonlyMap<string, readonly Owned[]>;
  /** Kinds that could not be listed for this, by namespace in the same way. */
  readonly listings: ReadonlyMap<string, Listing>;
  /** The last list for the rollback of created objects; see `adopted.ts`. */
  readonly adoptable?: Adoptable | undefined;
  /** Snapshot stores by number. */
  readonly stores: ReadonlyMap<number, StoreObservation>;
  /** Stores as they were last read or written, as `kind/name`. */
  readonly found: ReadonlyMap<string, StoreListing>;
  /** Stores that a newer one has replaced in the journal. */
  readonly obsolete: readonly SnapshotStore[];
  /** Data of the stores that were read, by `kind/name`. */
  readonly storeData: ReadonlyMap<string, StoreData>;
  readonly cleanup: Cleanup;
  /** The time since when the controller itself lacks a permission, by request; see `handle-answer.ts`. */
  readonly denied: ReadonlyMap<string, Instant>;
  /** Writes of the controller's own objects that met a conflict, and have not succeeded since; see `handle-answer.ts`. */
  readonly conflicted: ReadonlySet<string>;
  /** When an item was last rolled back. */
  readonly restoredAt?: Instant;
  /** The same of items that were not deferred behind others: what admission sets may change by these. */
  readonly admissionAt?: Instant;
  /** When the last create of a Lease, a store or the journal was sent that was not answered. */
  readonly unansweredCreate?: Instant;
  /** When the last write of the status was sent and answered; at first, when the Transaction was taken up. */
  readonly statusWritten: { readonly sent: Instant; readonly answered: Instant };
  /** Requests fail: since when, and when that was reported last. */
  readonly retryingSince?: { readonly since: Instant; readonly reportedAt?: Instant };
}

/**
 * Observations by this process of one change. In the order of its life: `preflight`, `snapshot` until that is recorded, then
 * `before`; in its turn `forward` and `gate`; on the way back `rollback`. Target and lock are observed all the time.
 */
export interface ChangeObservations {
  readonly lock?: LockObservation | undefined;
  /** The last live read of the target, as long as it says something. */
  readonly target?: TargetObservation | undefined;
  readonly preflight?: PreflightObservations | undefined;
  /** The reference of the snapshot, until it is recorded. Read with `snapshotIn`: it says nothing of another version. */
  readonly snapshot?: SnapshotRef | undefined;
  /** The state before the change, if it is in memory. */
  readonly before?: KubeObject | undefined;
  /** The uids of the owners that the snapshot names. */
  readonly ownersBefore?: readonly string[] | undefined;
  /** Owners, by uid, that the change, or its rollback, gives to the target. */
  readonly owners?: ReadonlyMap<string, OwnerObservation> | undefined;
  readonly forward?: ForwardObservations | undefined;
  /** Its gates: why the target cannot be looked at, or what a workload lacks, with its Pods. */
  readonly gate?: GateObservations | undefined;
  readonly rollback?: RollbackObservations | undefined;
  /** It depends on an earlier change, and was refused for now. */
  readonly enabling?: Enabling | undefined;
  /** A write that was refused as if its target had moved. */
  readonly unchangedConflict?: UnchangedConflict | undefined;
}

/** The wait for what an earlier change was to bring and was not there: it may take a moment to be effective. */
export interface Enabling {
  /** When it was first refused. */
  readonly since: Instant;
  /** When its permissions were asked for last, in its turn. */
  readonly permissionsReadAt?: Instant;
}

export interface UnchangedConflict {
  readonly at: Instant;
  readonly message: string;
  /** The version of the target that the write was decided on; absent if there was none. */
  readonly resourceVersion: string | undefined;
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

export const noObservations = (since: Instant): Observations => ({
  since,
  resources: new Map(),
  contents: new Map(),
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
  conflicted: new Set(),
  statusWritten: { sent: since, answered: since },
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

const NO_PREFLIGHT: PreflightObservations = {};

export const preflightIn = (known: Observations, index: number): PreflightObservations =>
  changeIn(known, index).preflight ?? NO_PREFLIGHT;

/** The dry run of a change; undefined: it has to be tried, on the target as it was read last. */
export const trialIn = (known: Observations, index: number): Trial | undefined => {
  const { target, preflight } = changeIn(known, index);
  const { trial } = preflight ?? NO_PREFLIGHT;
  return target !== undefined && trial?.of === target.object?.metadata.resourceVersion ? trial : undefined;
};

/** The snapshot of the target as it was read last; undefined: it has to be taken. */
export const snapshotIn = (known: Observations, index: number): SnapshotRef | undefined => {
  const { target, snapshot } = changeIn(known, index);
  return target !== undefined && snapshot?.of === target.object?.metadata.resourceVersion ? snapshot : undefined;
};

const NO_FORWARD: ForwardObservations = {};

export const forwardIn = (known: Observations, index: number): ForwardObservations =>
  changeIn(known, index).forward ?? NO_FORWARD;

/** The journal, if it was read and is valid, with what was answered, or restored, of its window since it was written. */
export const journalIn = (known: Observations): Journal | undefined => {
  if (known.journal?.type !== "read") return undefined;
  const forward = advanced(known.journal.journal, (index) => {
    const { write } = forwardIn(known, index);
    return write?.type === "made" && write.isUnmarked !== true ? (write.created ?? "") : undefined;
  });
  return receded(forward, (index) => rollbackIn(known, index).restoredAt);
};

const NO_ROLLBACK: RollbackObservations = {};

export const rollbackIn = (known: Observations, index: number): RollbackObservations =>
  changeIn(known, index).rollback ?? NO_ROLLBACK;

/** Adds what was learned of these changes; what is undefined of them is not known any more. */
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

/** Adds what was learned of one change; what is undefined of it is not known any more. */
export const withChange = (known: Observations, index: number, observed: ChangeObservations): Observations =>
  withChanges(known, [[index, observed]]);

/** Adds what was learned of one change before any is made. */
export const withPreflight = (known: Observations, index: number, observed: PreflightObservations): Observations =>
  withChange(known, index, { preflight: { ...preflightIn(known, index), ...observed } });

/** Adds what was learned in the turn of a change. */
export const withForward = (known: Observations, index: number, observed: ForwardObservations): Observations =>
  withChange(known, index, { forward: { ...forwardIn(known, index), ...observed } });

/** The change must not or cannot be made: nothing more of it is sent. */
export const withAborted = (known: Observations, index: number, cause: AbortCause): Observations => {
  const sent = sentWrite(forwardIn(known, index).write);
  return withForward(known, index, { write: { type: "aborted", cause, ...(sent === undefined ? {} : { sent }) } });
};

/** Adds what was learned of a target that is waited for. */
export const withGate = (known: Observations, index: number, observed: GateObservations): Observations =>
  withChange(known, index, { gate: { ...changeIn(known, index).gate, ...observed } });

/** Adds what was learned of the rollback of one change. */
export const withRollback = (known: Observations, index: number, observed: RollbackObservations): Observations =>
  withChange(known, index, { rollback: { ...rollbackIn(known, index), ...observed } });

/** The compiler does not look for unknown fields in a literal with a spread: a patch could go to a field that was renamed. */
type Known<Patch> = Patch & { readonly [Field in Exclude<keyof Patch, keyof ChangeObservations>]: never };

/** Keeps a part of the observations of each change. This is no observation: the order stays. */
export const mapChanges = <Left extends ChangeObservations>(
  known: Observations,
  left: (observed: ChangeObservations, index: number) => Known<Left>,
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

/**
 * The target has changed: what was read of it, or is being read, is not how it is now.
 *
 * @param finished the target, if it was seen finished. Default: as it was seen before
 */
export const withoutRead = (
  known: Observations,
  index: number,
  now: Instant,
  finished: KubeObject | undefined = changeIn(known, index).gate?.finished,
): Observations =>
  withChange(known, index, {
    target: undefined,
    gate: { changedAt: now, ...(finished === undefined ? {} : { finished }) },
  });
