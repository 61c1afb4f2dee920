// Undoes a Replace: deletes the replacement, then creates the former object again.
import type { KubeObject } from "@janus/types";
import { isMarked, isRecreated } from "../merge/marks.ts";
import { replacementOf } from "../state/journal.ts";
import { removeCreated } from "./undo-create.ts";
import { undoDelete } from "./undo-delete.ts";
import type { UndoContext, UndoStep } from "./undo-context.ts";

/**
 * Deletes what has replaced the former object, and waits until it is gone; then the former object is created again, as for a
 * Delete.
 *
 * @example a Job with uid 1 was replaced; what is there in its place says what is next
 *   uid 2, recorded or with the mark of the change → it is deleted
 *   anything else                                  → see `undo-delete.ts`
 */
export const undoReplace = (undoContext: UndoContext, before: KubeObject): UndoStep => {
  const { object } = undoContext.seen;
  return object !== undefined && isReplacement(undoContext, object)
    ? removeCreated(undoContext, object)
    : undoDelete(undoContext, before);
};

/** Tells the replacement by its mark. A recreated object has another one, until that is removed: by then, its uid is recorded. */
const isReplacement = ({ journal, index, context: { txn } }: UndoContext, object: KubeObject): boolean => {
  const { uid } = object.metadata;
  if (uid === journal.created.get(index)) return false;
  const isOurs = isMarked(object, txn.metadata.uid) && !isRecreated(object, txn.metadata.uid);
  return isOurs || uid === replacementOf(journal, index);
};
