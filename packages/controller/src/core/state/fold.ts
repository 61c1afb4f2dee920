// The ways in which an answer is folded into the observations, as data: a name, and what it takes beside the request and its answer.

import type { ResolvedChange, SnapshotStore } from "@janus/api";
import type { KubeObject } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { Gated } from "./gated.ts";

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
export type PreflightFold = never;

/** Folded by `snapshots/observe-store.ts`. */
export type StoreFold = never;

/** Folded by `forward/observe-gates.ts`. */
export type GateFold =
  | { readonly type: "gate-unreadable" }
  /** What a read of the target shows of its gates. */
  | { readonly type: "gates-judged"; readonly gated: Gated };

/** Folded by `forward/observe-trace.ts`. */
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

export type JournalFault = never;
export type RecordFault = never;
export type TargetFault = { readonly type: "target-unread"; readonly refused?: Nested };
export type PreflightFault = never;
export type StoreFault = never;
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

export type RestoreFault = never;

export type FaultData =
  | LockFault
  | KindFault
  | JournalFault
  | RecordFault
  | TargetFault
  | PreflightFault
  | StoreFault
  | GateFault
  | ChangeFault
  | RestoreFault;
