// The ways in which an answer is folded into the observations, as data: a name, and what it takes beside the request and its answer.

import type { ResolvedChange, SnapshotStore } from "@janus/api";
import type { KubeObject } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
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
  | { readonly type: "yield-requester"; readonly uid: string };

/** Folded by `state/observe-journal.ts`. */
export type JournalFold = never;

/** Folded by `state/observe-record.ts`: writes of the Transaction itself, and what else is observed of it as a whole. */
export type RecordFold = never;

/** Folded by `state/observe-target.ts`. */
export type TargetFold = { readonly type: "target-read"; readonly refused?: Nested };

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
      readonly done: readonly Nested[];
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

/** Folded by `forward/observe-change.ts`. */
export type ChangeFold = never;

/** Folded by `undo/observe-restore.ts`. */
export type RestoreFold = never;

/** Closures go, see `effect.ts`. */
type Nested = FoldData | ((...args: never[]) => unknown);

export type FoldData =
  | LockFold
  | JournalFold
  | RecordFold
  | TargetFold
  | PreflightFold
  | StoreFold
  | ChangeFold
  | RestoreFold;

/** The ways in which it is folded in that there was no answer, folded by the same files. */
export type LockFault =
  | { readonly type: "lock-maybe-created" }
  | { readonly type: "lock-maybe-written"; readonly retryAfter: number; readonly isTakeOver: boolean }
  | { readonly type: "lock-maybe-released" };

/** Folded by `state/observe-lookup.ts`. */
export type KindFault = { readonly type: "kind-undiscovered" };

export type JournalFault = never;
export type RecordFault = never;
export type TargetFault = { readonly type: "target-unread"; readonly refused?: Nested };
export type StoreFault =
  | { readonly type: "store-maybe-written"; readonly n: number }
  | { readonly type: "store-maybe-released" };
export type ChangeFault = never;
export type RestoreFault = never;

export type FaultData =
  | LockFault
  | KindFault
  | JournalFault
  | RecordFault
  | TargetFault
  | StoreFault
  | ChangeFault
  | RestoreFault;
