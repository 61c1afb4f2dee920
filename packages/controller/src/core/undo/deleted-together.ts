// Names what this Transaction deleted together with a target, for messages.
import { itemState } from "../state/journal.ts";
import { deletedOwners, isApplied, isGarbageCollected } from "../snapshots/owner-references.ts";
import type { UndoContext } from "./undo-context.ts";
import type { KubeObject } from "@janus/types";

/** The Namespace of the target, if this Transaction has deleted it and it was not restored, for messages. */
export const deletedNamespace = ({ context: { txn }, journal, place }: UndoContext): string | undefined => {
  const namespace = txn.spec.changes.findIndex(
    ({ type, target }, index) =>
      type === "Delete" &&
      target.apiVersion === "v1" &&
      target.kind === "Namespace" &&
      target.name === place.namespace &&
      isApplied(journal, index) &&
      itemState(txn, index, journal).type !== "restored",
  );
  return namespace === -1
    ? undefined
    : `Namespace ${place.namespace}, which changes[${namespace}] deleted: that cannot be undone`;
};

/** Names what this Transaction has deleted together with the target, for messages. */
export const deletedTogetherWith = (undoContext: UndoContext, before: KubeObject): string | undefined => {
  const { context, journal } = undoContext;
  const owners = isGarbageCollected(context.txn, journal, before) ? deletedOwners(context.txn, journal, before) : [];
  const named = owners.map((index) => `changes[${index}]`).join(" and ");
  return deletedNamespace(undoContext) ?? (owners.length === 0 ? undefined : `its owner, which ${named} deleted`);
};
