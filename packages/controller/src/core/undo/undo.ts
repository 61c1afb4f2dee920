// Selects the undo of a change by its type, after a live read of the target.
import { recordedBefore } from "../snapshots/prior-state.ts";
import { isIrreversible } from "../state/irreversible-deletions.ts";
import type { Journal } from "../state/journal.ts";
import { changeIn } from "../state/observations.ts";
import type { Refusal } from "../state/rollback-observations.ts";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { claimsDeletedBy } from "../kubernetes/deleted-claims.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { unreadOwners, withoutGoneOwners } from "./gone-owners.ts";
import { undoCreate } from "./undo-create.ts";
import { undoDelete } from "./undo-delete.ts";
import { undoReplace } from "./undo-replace.ts";
import { undoEdit } from "./undo-edit.ts";
import {
  conflictPause,
  continues,
  refusedFor,
  rollbackFailed,
  type UndoContext,
  type UndoStep,
} from "./undo-context.ts";
import type { KubeObject } from "@janus/types";
import { POLL_INTERVAL, SETTLING } from "../state/waits.ts";

/**
 * Decides on a live read of the target alone, so that it does not matter whether an earlier attempt has landed: what is
 * rolled back already needs nothing more.
 */
export const undo = (
  context: ReconcileContext,
  journal: Journal,
  item: ResolvedItem,
  before: KubeObject | undefined,
): UndoStep => {
  const { target: seen, rollback } = changeIn(context.known, item.index);
  if (rollback?.refusal !== undefined) return refusedYet(context, item, rollback.refusal);
  if (seen === undefined) return continues(readTarget(item, refusedFor(item)));
  const undoContext: UndoContext = { ...item, context, journal, seen };
  const pausing = conflictPause(undoContext);
  if (pausing !== undefined) return pausing;
  if (item.change.type === "Create") return undoCreate(undoContext);
  if (before === undefined) return rollbackFailed(`${formatRef(item.place)}: its former state is unknown`);
  const recorded = recordedBefore(context.txn, journal, item.index);
  if (isIrreversible(item.change) || (recorded.existed && recorded.isIrreversible === true))
    return undoIrreversible(undoContext, before);
  const reading = unreadOwners(undoContext, before);
  if (reading.length > 0) return continues(...reading);
  return withoutGoneOwners(undoContext, before, undoing(item));
};

const undoing = ({ change: { type } }: ResolvedItem): typeof undoDelete => {
  if (type === "Replace") return undoReplace;
  return type === "Delete" ? undoDelete : undoEdit;
};

const refusedYet = ({ known, now }: ReconcileContext, item: ResolvedItem, { why, at }: Refusal): UndoStep => {
  if (known.restoredAt === undefined || now >= known.restoredAt + SETTLING) return rollbackFailed(why);
  if (now < at + POLL_INTERVAL) return { type: "wait", until: at + POLL_INTERVAL, because: `trying again: ${why}` };
  const reading = readTarget(item, refusedFor(item));
  return continues({ ...reading, folds: [{ type: "refusal-cleared", index: item.index }, ...reading.folds] });
};

/** Names what is deleted with an object of a kind that cannot be restored. No list is kept of what others have put into it. */
const contentsOf = ({ resource: { kind } }: ObjectRef): string => {
  if (kind === "Namespace") return "all objects in it (no list of them was kept)";
  return kind === "CustomResourceDefinition" ? "all objects of its kind (no list of them was kept)" : "its data";
};

/** It still exists unmodified if its deletion was not executed. Created again it would be empty, and must not pass for the old one. */
const undoIrreversible = (
  { place, change, seen: { object }, context, journal, index }: UndoContext,
  before: KubeObject,
): UndoStep => {
  const isUntouched = object?.metadata.uid === before.metadata.uid && object?.metadata.deletionTimestamp === undefined;
  if (isUntouched) return { type: "restored" };
  const recorded = recordedBefore(context.txn, journal, index);
  const lost = (recorded.existed ? recorded.dependents : undefined) ?? claimsDeletedBy(change, before)?.names;
  const all = [...(isIrreversible(change) ? [contentsOf(place)] : []), ...(lost === undefined ? [] : [lost])];
  const contents = all.length === 0 ? "" : `, and with it ${all.join(", ")}`;
  return rollbackFailed(`${formatRef(place)} was deleted, which cannot be undone${contents}: restore it from a backup`);
};
