// Reports targets that are gone although their changes were never applied.
import { deletes, type Item as Recorded } from "@janus/api";
import { type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Effect } from "../state/effect.ts";
import { changeIn, rollbackIn } from "../state/observations.ts";
import { formatRef, type ObjectRef, terminatingMessage } from "../kubernetes/kube-object.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { discoveries, resolveTarget } from "../state/target-resolution.ts";
import { withAttemptCounted } from "./rollback-item.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";

/** The most failed requests: after so many, it is unknown. */
const MOST_TRIES = 5;

/**
 * Changes that were never applied, and whose targets are read once more: one that was rejected; and, if the
 * Transaction has deleted anything, those that it did not reach, since they may have been deleted with that.
 */
const unappliedChanges = ({ txn }: ReconcileContext, items: readonly Recorded[]): readonly number[] => {
  const hasDeleted = items.some(
    ({ state }, index) => state.type === "restored" && txn.spec.changes.slice(index, index + 1).some(deletes),
  );
  return items.flatMap(({ state }, index) => {
    const isMeant = state.type === "rejected" || (state.type === "prepared" && hasDeleted);
    return isMeant && state.before.existed ? [index] : [];
  });
};

const lossOf = (place: ObjectRef, object: KubeObject | undefined): string | undefined => {
  if (object === undefined) return `${formatRef(place)} is gone, although its change was never applied`;
  return object.metadata.deletionTimestamp === undefined ? undefined : terminatingMessage(place, object);
};

/**
 * Targets that are gone, or are being deleted, although their changes were never applied, by change, as messages: deleted with
 * what the Transaction deleted, or by another client. They must not count as unmodified.
 */
export const missing = (
  context: ReconcileContext,
  items: readonly Recorded[],
): { readonly requests: readonly Effect[]; readonly messages: ReadonlyMap<number, string> } => {
  const { txn, known } = context;
  const candidates = unappliedChanges(context, items);
  const isGivenUp = (index: number): boolean => (rollbackIn(known, index).failedAttempt?.count ?? 0) >= MOST_TRIES;
  const unknown = discoveries(txn, known);
  const [first] = candidates;
  if (first !== undefined && unknown.length > 0 && !isGivenUp(first))
    return { requests: unknown.map((request) => withAttemptCounted(first, request)), messages: new Map() };
  const found = candidates.map((index): readonly [number, Effect | string | undefined] => {
    const place = resolveTarget(txn, known, index);
    const change = resolvedChange(txn, known, index);
    if (E.isLeft(place) || change === undefined) return [index, E.isLeft(place) ? place.left : undefined];
    const item: ResolvedItem = { index, change, place: place.right };
    const { target: seen } = changeIn(known, index);
    if (seen !== undefined) return [index, lossOf(place.right, seen.object)];
    const { unseen, failedAttempt } = rollbackIn(known, index);
    const why = unseen ?? (isGivenUp(index) ? failedAttempt?.message : undefined);
    return why === undefined
      ? [index, withAttemptCounted(index, readTarget(item, { type: "target-unseen" }))]
      : [index, `it is unknown whether ${formatRef(place.right)} is there: ${why}`];
  });
  return {
    requests: found.flatMap(([, one]) => (typeof one === "object" ? [one] : [])),
    messages: new Map(found.flatMap(([index, one]) => (typeof one === "string" ? [[index, one] as const] : []))),
  };
};
