// The ways in which an answer is folded into the observations, as data: a name, and what it takes beside the request and its answer.
import type { ResolvedChange, SnapshotStore } from "@janus/api";
import type { Instant, KubeObject } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { Gated } from "./gated.ts";
import type { ReleaseTo } from "./cleanup.ts";
import type { KeepDryRun } from "./preflight-observations.ts";

/** Folded by `locks/observe-lock.ts`. */
export type LockFold =
  /** Our holder identity was written into the Lease, which is valid for so long, in ms, and renewed after a part of that. */
  | { readonly type: "lock-created"; readonly duration: number }
  | { readonly type: "lock-written"; readonly duration: number; readonly retryAfter: number }
  /** `duration`: that of a Lease that names none, in ms. */
  | { readonly type: "lock-read"; readonly duration: number }
  | { readonly type: "lock-verified" }
  /** The Transaction that holds it, of which this is the uid, is looked at: whether it has this target. */
  | { readonly type: "lock-holder"; readonly uid: string; readonly target: ObjectRef }
  | { readonly type: "lock-released" }
  /** Nothing that was read under the locks is certain any more. */
  | { readonly type: "locks-left" }
  | { readonly type: "locks-left-to-others" }
  | { readonly type: "yield-requested"; readonly index: number }
  /** The Transaction that requests these targets, of which this is the uid, is looked at: whether it has any of them. */
  | { readonly type: "yield-requester"; readonly uid: string; readonly targets: readonly ObjectRef[] };

/** Folded by `state/observe-journal.ts`. */
export type JournalFold =
  | { readonly type: "journal-read" }
  | { readonly type: "journal-written" }
  /** The finalizer is added: before it no journal is written. */
  | { readonly type: "no-journal-yet" }
  /** The journal is deleted, or labelled as orphaned. */
  | { readonly type: "journal-released" }
  /** Changes of its window may have been sent. */
  | { readonly type: "window-in-doubt" }
  /** No change is in doubt: no write was sent. */
  | { readonly type: "no-change-sent" }
  /** It is reversed: the rollback begins. */
  | { readonly type: "journal-reversed" }
  /** Nothing is in progress: what was kept to save requests is dropped, if it is large. */
  | { readonly type: "memory-trimmed" }
  /** The cleanup starts once more, before the journal is read. */
  | { readonly type: "cleanup-restarted" };

/** Folded by `state/observe-record.ts`: writes of the Transaction itself, and what else is observed of it as a whole. */
export type RecordFold =
  /** The status was written. */
  | { readonly type: "status-written" }
  /** Its phase is Preparing. */
  | { readonly type: "begun" }
  /** Its phase is Prepared. */
  | { readonly type: "prepared" }
  /** A finished Transaction is rolled back, as decided at this time. */
  | { readonly type: "rollback-restarted"; readonly at: Instant }
  /** A failure that lasts was reported, at this time. */
  | { readonly type: "retry-reported"; readonly at: Instant }
  | { readonly type: "problem-reported"; readonly message: string }
  | { readonly type: "namespace-read" }
  /** A lock whose Lease cannot be read counts as released. */
  | { readonly type: "lock-unread" }
  /** It is deleted, since its time to live has passed. */
  | { readonly type: "expired" };

/** Folded by `state/observe-target.ts`. */
export type TargetFold = { readonly type: "target-read"; readonly refused?: Fold };

/** Folded by `state/observe-contents.ts`. */
export type ContentsFold = { readonly type: "contents-read" };

/** Folded by `state/observe-owner.ts`. `uid`: that of the owner. */
export type OwnerFold = { readonly type: "owner-read"; readonly uid: string };

/** Folded by `state/observe-other-version.ts`. `object`: as it was read in its own version. `there`: as it was read in this one. */
export type OtherVersionFold =
  | { readonly type: "other-version-read"; readonly object: KubeObject; readonly apiVersion: string }
  | {
      readonly type: "other-version-tried";
      readonly object: KubeObject;
      readonly apiVersion: string;
      readonly there: KubeObject;
    };

/** Folded by `preflight/observe-preflight.ts`. */
export type PreflightFold =
  | { readonly type: "service-account-read" }
  /** `isForNow`: an earlier change may bring what reading it takes. */
  | { readonly type: "target-unreadable"; readonly isForNow: boolean }
  | { readonly type: "existence-read" }
  /** `target`: as it was when the change was tried on it; undefined if there was none. */
  | {
      readonly type: "change-tried";
      readonly change: ResolvedChange;
      readonly target: KubeObject | undefined;
      readonly keep: KeepDryRun;
    }
  /** It was tried on this version of the target whether the rollback could grant again what it grants. */
  | { readonly type: "regrant-tried"; readonly resourceVersion: string | undefined }
  /**
   * The ServiceAccount may, or may not, do this to the targets of these changes. `ofAll`: it is about all objects of their kind
   * in their namespace, and a denial is noted under this name: then it is asked about one at a time.
   */
  | {
      readonly type: "permission-reviewed";
      readonly verb: string;
      readonly indices: readonly number[];
      readonly ofAll?: string;
    }
  /** Keeps only an outline of each target that was tried. */
  | { readonly type: "tried-outlined" }
  /** Keeps only an outline of the target of this change, once nothing more is asked of it. */
  | { readonly type: "examined-outlined"; readonly change: ResolvedChange; readonly place: ObjectRef };

/** Folded by `snapshots/observe-store.ts`. */
export type StoreFold =
  /** `n`: the number in its name. */
  | { readonly type: "store-written"; readonly n: number; readonly digest: string }
  | { readonly type: "store-name-read"; readonly n: number }
  | { readonly type: "store-read"; readonly store: SnapshotStore }
  /** `recorded`: the store of this name that the status or the journal names. */
  | { readonly type: "store-looked-at"; readonly recorded: SnapshotStore | undefined }
  | { readonly type: "store-released"; readonly uid: string; readonly to: ReleaseTo }
  | { readonly type: "store-deleted" }
  /** Folded by `done`, unless the API server rejects this step of its release: then that is postponed. */
  | {
      readonly type: "store-step-tried";
      readonly uid: string;
      readonly step: ReleaseTo | "deleted";
      readonly done: readonly Fold[];
    }
  /** Refers to snapshots once all packs are stored. `starts`: their changes, each with the number of the pack that it starts in. */
  | {
      readonly type: "snapshots-stored";
      readonly packs: readonly Pick<SnapshotStore, "kind" | "digest">[];
      readonly starts: readonly (readonly [index: number, pack: number])[];
    }
  /** Notes the owners that the snapshot of this change, which is in these stores, names; once all of it is read. */
  | {
      readonly type: "former-owners-read";
      readonly index: number;
      readonly stores: readonly SnapshotStore[];
      readonly key: string;
    };

/** Folded by `forward/observe-gates.ts`. */
export type GateFold =
  | { readonly type: "gate-unreadable" }
  /** What a read of the target shows of its gates. */
  | { readonly type: "gates-judged"; readonly gated: Gated };

/** Folded by `forward/observe-traces.ts`. */
export type TraceFold =
  /** The target is read, with what it was before the change, if that was read from its snapshot. */
  { readonly type: "trace-read"; readonly before?: KubeObject } | { readonly type: "trace-unreadable" };

/** Folded by `forward/observe-change.ts`. */
export type ChangeFold =
  /** Checks of the preflight, of permissions or others, were made again in the turn of the change. */
  | { readonly type: "permissions-awaited" }
  | { readonly type: "late-check-made" }
  | { readonly type: "managers-folded" }
  | { readonly type: "change-written" }
  /** The reads that show what has become of the change with this index are answered. */
  | { readonly type: "fate-read"; readonly index: number }
  /** A rejection of such a read. The change: which of its writes was sent, of a Replace. */
  | { readonly type: "fate-unreadable"; readonly change: ResolvedChange }
  /** A new snapshot was recorded, of the target as it is now before the change; those in these stores are obsolete. */
  | {
      readonly type: "snapshot-renewed";
      readonly index: number;
      readonly before: KubeObject;
      readonly replaces: readonly SnapshotStore[];
    }
  /** It is recorded that what a Replace deletes is gone: its create is next. */
  | { readonly type: "deletion-recorded"; readonly index: number };

/** Folded by `undo/observe-restore.ts`. */
export type RestoreFold =
  | Restored
  /** The API server refuses what the rollback of the change with this index needs of this place. */
  | { readonly type: "rollback-refused"; readonly index: number; readonly place: ObjectRef }
  /** It is tried again from now on. */
  | { readonly type: "refusal-cleared"; readonly index: number }
  /** The rollback of an item is recorded. `isBehind`: it was deferred behind others. */
  | { readonly type: "item-restored"; readonly isBehind: boolean; readonly isDelete: boolean }
  /** The change with this index is restored, and the journal will record that with others of its window. */
  | { readonly type: "restored-in-window"; readonly index: number }
  /** The volume, or the content of a snapshot, that is behind the target. */
  | { readonly type: "storage-read" }
  /** The target of a change that was never applied may not be read. */
  | { readonly type: "target-unseen" }
  /** A store was read to see whether this uid owns the target of the change with this index. */
  | { readonly type: "owner-sought"; readonly index: number; readonly owner: string };

/** A write of a rollback was answered. */
export interface Restored {
  readonly type: "restored";
  /** The version of the target that it was decided on; absent if there was none. */
  readonly resourceVersion: string | undefined;
  /** The index of the change whose rollback ends if it is rejected: its own, or that of an owner of the target. */
  readonly blamed: number;
  /** The object that it was to restore. */
  readonly goal?: KubeObject;
  /** Restores fields of an edited object, after so many PUTs. */
  readonly edit?: { readonly puts: number; readonly insists?: Insistent };
}

/** A PUT that does not yield to what other clients have set, and what it was computed from: the former object, and the live one. */
export interface Insistent {
  readonly change: ResolvedChange;
  readonly former: KubeObject;
  readonly live: KubeObject;
  readonly put: object | undefined;
}

export type Fold =
  | LockFold
  | JournalFold
  | RecordFold
  | TargetFold
  | ContentsFold
  | OwnerFold
  | OtherVersionFold
  | PreflightFold
  | StoreFold
  | GateFold
  | TraceFold
  | ChangeFold
  | RestoreFold;

/** The ways in which it is folded in that there was no answer, folded by the same files. */
export type LockFault =
  | { readonly type: "lock-maybe-created" }
  | { readonly type: "lock-maybe-written"; readonly retryAfter: number; readonly isTakeOver: boolean }
  | { readonly type: "lock-maybe-released" };

/** Folded by `state/observe-lookup.ts`. */
export type KindFault = { readonly type: "kind-undiscovered" };

export type JournalFault =
  | { readonly type: "journal-maybe-created" }
  | { readonly type: "journal-maybe-written" }
  | { readonly type: "journal-maybe-reversed" };
export type RecordFault = { readonly type: "retry-maybe-reported"; readonly at: Instant };
export type TargetFault = { readonly type: "target-unread"; readonly refused?: Fold };
export type ContentsFault = { readonly type: "contents-unread" };
/** Requests for the target of the change with this index, or for its kind, have no answer. */
export type GateFault = { readonly type: "gate-unanswered"; readonly index: number };

export type ChangeFault =
  | { readonly type: "change-maybe-written"; readonly index: number }
  /** The reads that show what has become of the change with this index have no answer. */
  | { readonly type: "fate-unread"; readonly index: number }
  /** It cannot be recorded that it stops without these reads, or without knowing the kind: they are tried again. */
  | { readonly type: "fate-asked-again"; readonly index: number }
  | { readonly type: "kinds-asked-again" }
  | { readonly type: "deletion-maybe-recorded"; readonly index: number };

export type StoreFault =
  | { readonly type: "store-maybe-written"; readonly n: number }
  | { readonly type: "store-maybe-released" };
export type RestoreFault =
  | { readonly type: "maybe-restored" }
  /** It was sent in the rollback of the change with this index. */
  | { readonly type: "rollback-unanswered"; readonly index: number };

export type Fault =
  | LockFault
  | KindFault
  | JournalFault
  | RecordFault
  | TargetFault
  | ContentsFault
  | StoreFault
  | GateFault
  | ChangeFault
  | RestoreFault;
