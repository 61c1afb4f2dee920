// The context of the rollback of one change, and the result of its steps.
import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { withServerMutations } from "../merge/server-mutations.ts";
import type { ApiCall, Effect, Closure } from "../state/effect.ts";
import { classify, messageOf, type Instant, type ApiError, type KubeObject } from "@janus/types";
import type { Journal } from "../state/journal.ts";
import { type Observations, unchangedConflict, withChange, withRollback } from "../state/observations.ts";
import type { TargetObservation } from "../state/target-observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { POLL_INTERVAL, type ReconcileContext } from "../state/reconcile-context.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";

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
}

export const continues = (...effects: readonly Effect[]): UndoStep => ({ type: "run", effects });
export const rollbackFailed = (error: string): UndoStep => ({ type: "rollback-failed", error });
export const conflict = (error: string): UndoStep => ({ type: "rollback-failed", error, conflict: true });

/** A rejection ends the attempt for this item; after a conflict or NotFound, the target is read again. */
export const refusedFor =
  (item: ResolvedItem): Closure =>
  (known, answer, now) =>
    E.isRight(answer) ? known : noted(known, item, answer.left, now);

const noted = (known: Observations, { index, place }: ResolvedItem, fault: ApiError, at: Instant): Observations =>
  withRollback(known, index, {
    refusal: { why: `${formatRef(place)}: the API server refuses to roll it back: ${messageOf(fault)}`, at },
  });

/** A write that was rejected with a conflict although nothing had changed is not repeated at once. */
export const conflictPause = ({ context: { known, now }, index, seen }: UndoContext): UndoStep | undefined => {
  const unchanged = unchangedConflict(known, index, seen.object);
  return unchanged === undefined || now >= unchanged.at + POLL_INTERVAL
    ? undefined
    : { type: "wait", until: unchanged.at + POLL_INTERVAL, because: `trying again: ${unchanged.message}` };
};

const lookAgain = (known: Observations, { index }: ResolvedItem): Observations =>
  withChange(known, index, { target: undefined });

/** After a write, the target is read again, or the response is used as the read. */
export const restoring = (undoContext: UndoContext, call: ApiCall["call"], answered: "is-live" | "look"): ApiCall => ({
  purpose: "restore",
  item: undoContext.index,
  as: "serviceAccount",
  call,
  folds: [
    (known, answer, now, sent) => {
      if (E.isRight(answer))
        return answered === "look"
          ? lookAgain(known, undoContext)
          : withChange(known, undoContext.index, { target: { type: "read", object: answer.right, at: sent } });
      if (classify(answer.left) !== "conflict") return noted(known, undoContext, answer.left, now);
      const { resourceVersion } = undoContext.seen.object?.metadata ?? {};
      return withChange(known, undoContext.index, {
        target: undefined,
        unchangedConflict: { at: now, message: messageOf(answer.left), resourceVersion },
      });
    },
  ],
  unanswered: [(known) => lookAgain(known, undoContext)],
});

/** Replaces the object, in the version that the body names. */
export const putCall = ({ place, context }: UndoContext, body: object): ApiCall["call"] => ({
  verb: "update",
  place,
  body,
  manager: fieldManager(context.txn.metadata),
});

/** Records what the API server made of a write that was to restore an object (see `server-mutations.ts`). */
export const withGoal = (
  request: ApiCall,
  { index, place }: ResolvedItem,
  goal: KubeObject,
  sent: object,
): ApiCall => ({
  ...request,
  folds: [
    ...request.folds,
    (known, answer) =>
      E.isLeft(answer)
        ? known
        : withRollback(known, index, { goal: withServerMutations(goal, sent, answer.right, place) }),
  ],
});
