// Restores an object without owners that other clients have deleted.
import { deletes } from "@janus/api";
import type { KubeObject, OwnerReference } from "@janus/types";
import { formatRef } from "../kubernetes/kube-object.ts";
import { uidNow, withoutOwners } from "../snapshots/owner-references.ts";
import type { Effect } from "../state/effect.ts";
import { goneOwners, ownerKinds, readOwners } from "../state/owners.ts";
import type { UndoContext, UndoStep } from "./undo-context.ts";

/** Its former owners that it does not have now, and that this Transaction has not deleted. */
const lostOwners = ({ context: { txn }, journal, change, seen }: UndoContext, before: KubeObject) => {
  const { metadata } = seen.object ?? {};
  const isBefore = metadata !== undefined && metadata.uid === before.metadata.uid;
  // The very object is there still, or another one in place of it: nothing is restored.
  if (deletes(change) ? isBefore : !isBefore) return [];
  const owners = new Set(metadata?.ownerReferences?.map(({ uid }) => uid));
  return (before.metadata.ownerReferences ?? []).filter(
    ({ uid }) => !owners.has(uid) && uidNow(txn, journal, uid) === uid,
  );
};

/** The reads of its owners that are needed before it is restored. */
export const unreadOwners = (undoContext: UndoContext, before: KubeObject): readonly Effect[] => {
  const { known } = undoContext.context;
  const owners = lostOwners(undoContext, before);
  const kinds = ownerKinds(known, owners);
  return kinds.length > 0 ? kinds : readOwners(known, undoContext, owners, undoContext.seen.at);
};

const named = (owners: readonly OwnerReference[]): string =>
  owners.map(({ kind, name }) => `${kind} ${name}`).join(", ");

/**
 * Restores an object without the owners that other clients have deleted: with a reference to these, the garbage collector would
 * delete it within moments. That it is without them is said.
 *
 * @param undoing how it is rolled back to what was before
 */
export const withoutGoneOwners = (
  undoContext: UndoContext,
  before: KubeObject,
  undoing: (undoContext: UndoContext, before: KubeObject) => UndoStep,
): UndoStep => {
  const { context, index, place } = undoContext;
  const gone = goneOwners(context.known, index, lostOwners(undoContext, before));
  if (gone.length === 0) return undoing(undoContext, before);
  const step = undoing(undoContext, withoutOwners(before, gone));
  if (step.type !== "restored") return step;
  const lost = `restored without its owner, which another client has deleted: ${named(gone)}`;
  return { ...step, warning: step.warning === undefined ? `${formatRef(place)}: ${lost}` : `${step.warning}; ${lost}` };
};
