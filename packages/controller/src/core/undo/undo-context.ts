// The context of the rollback of one change, and the result of its steps.
import { fieldManager } from "@janus/api";
import type { ApiCall, Effect } from "../state/effect.ts";
import type { Fold, Restored } from "../state/fold.ts";
import { type Instant } from "@janus/types";
import type { Journal } from "../state/journal.ts";
import { unchangedConflict } from "../state/observations.ts";
import type { TargetObservation } from "../state/target-observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** The next thing to do to roll back an item, or how its rollback ended. */
export type UndoStep =
  | { readonly type: "run"; readonly effects: readonly Effect[] }
  | { readonly type: "wait"; readonly until: Instant; readonly because: string }
  /** Waits until the changes before it are rolled back. */
  | { readonly type: "defer"; readonly because: string }
  /** Acquires the lock of another change's target, which is a dependent of this one. */
  | { readonly type: "lock"; readonly index: number }
  /** `stillThere`: the uid, if its deletion was never applied. */
  | { readonly type: "restored"; readonly warning?: string; readonly stillThere?: string }
  /** `conflict`: because another client has modified it. `retryOnRequest`: a created object is left there on purpose. */
  | {
      readonly type: "rollback-failed";
      readonly error: string;
      readonly conflict?: true;
      readonly retryOnRequest?: true;
    };

export interface UndoContext extends ResolvedItem {
  readonly context: ReconcileContext;
  readonly journal: Journal;
  readonly seen: TargetObservation;
  /**
   * The index of the change whose rollback ends if a request is rejected. Default: its own. For a dependent it is that of the owner
   * in whose rollback the dependent is written: its own rollback may have ended before, or may still come.
   */
  readonly blamed?: number;
}

export const continues = (...effects: readonly Effect[]): UndoStep => ({ type: "run", effects });
export const rollbackFailed = (error: string): UndoStep => ({ type: "rollback-failed", error });
export const conflict = (error: string): UndoStep => ({ type: "rollback-failed", error, conflict: true });

/** A rejection ends the attempt for this item; after a conflict or NotFound, the target is read again. */
export const refusedFor = ({ index, place, blamed = index }: ResolvedItem & Pick<UndoContext, "blamed">): Fold => ({
  type: "rollback-refused",
  index: blamed,
  place,
});

/** A write that was rejected with a conflict although nothing had changed is not repeated at once. */
export const conflictPause = ({ context: { known, now }, index, seen }: UndoContext): UndoStep | undefined => {
  const unchanged = unchangedConflict(known, index, seen.object);
  return unchanged === undefined || now >= unchanged.at + POLL_INTERVAL
    ? undefined
    : { type: "wait", until: unchanged.at + POLL_INTERVAL, because: `trying again: ${unchanged.message}` };
};

/**
 * A write of the rollback. After a deletion, the target is read again; else the response is used as the read.
 *
 * @param restores the object that it is to restore: what the API server makes of it is recorded (see `server-mutations.ts`)
 */
export const restoring = (
  { index, seen, blamed = index }: UndoContext,
  call: ApiCall["call"],
  restores: Pick<Restored, "goal" | "edit"> = {},
): ApiCall => ({
  purpose: "restore",
  item: index,
  as: "serviceAccount",
  call,
  folds: [{ type: "restored", resourceVersion: seen.object?.metadata.resourceVersion, blamed, ...restores }],
  unanswered: [{ type: "maybe-restored" }],
});

/** Replaces the object, in the version that the body names. */
export const putCall = ({ place, context }: UndoContext, body: object): ApiCall["call"] => ({
  verb: "update",
  place,
  body,
  manager: fieldManager(context.txn.metadata),
});
