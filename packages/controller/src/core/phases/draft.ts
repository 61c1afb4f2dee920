import { FINALIZER, type Transaction } from "@janus/api";
import { done, type Step } from "../state/effect.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { pending } from "./pending.ts";

/** Whether it is not to be executed (yet). */
export const isDraft = ({ spec }: Transaction): boolean => spec.lifecycle !== "Published";

/**
 * A Draft or a proposed Transaction.
 *
 * Guarantees: nothing is locked and no target is modified; without the finalizer, it is deleted immediately.
 */
export const draft = (context: ReconcileContext): Step =>
  // Another client has added the finalizer: its deletion must not hang on us.
  (context.txn.metadata.finalizers ?? []).includes(FINALIZER) && context.txn.metadata.deletionTimestamp !== undefined
    ? pending(context)
    : done;
