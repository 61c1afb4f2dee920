import { contents, findUnseen, unseen } from "./namespace-contents.ts";
import { formerClaims } from "./former-claims.ts";
import { awaitedDeletion, formatRef } from "../kubernetes/kube-object.ts";
import { isMarked } from "../merge/marks.ts";
import { POLL_INTERVAL } from "../state/reconcile-context.ts";
import { readTarget } from "../state/resolved-changes.ts";
import { conflict, continues, refusedFor, restoring, type UndoStep, type UndoContext } from "./undo-context.ts";

/** Deletes the object that the change created, by uid, and waits until it is gone. */
export const undoCreate = (undoContext: UndoContext): UndoStep => {
  const { seen, place, journal, index, context } = undoContext;
  const recorded = context.txn.status.items[index]?.state;
  const created = journal.created.get(index) ?? (recorded?.type === "committed" ? recorded.created : undefined);
  const { object } = seen;
  if (object === undefined) {
    const warning = unseen(undoContext);
    return findUnseen(undoContext) ?? { type: "restored", ...(warning === undefined ? {} : { warning }) };
  }
  const ours = created === undefined ? isMarked(object, context.txn.metadata.uid) : object.metadata.uid === created;
  if (!ours) return conflict(`${formatRef(place)} was deleted and created again by another client: left unchanged`);
  if (object.metadata.deletionTimestamp !== undefined) {
    const finding = findUnseen(undoContext);
    if (finding !== undefined) return finding;
    const until = seen.at + POLL_INTERVAL;
    if (context.now >= until) return continues(readTarget(undoContext, refusedFor(undoContext)));
    return { type: "wait", until, because: awaitedDeletion(place, object) };
  }
  const held =
    contents(undoContext) ?? formerClaims(undoContext, { type: "Delete", target: undoContext.change.target });
  if (held !== undefined) return held;
  const { uid = "", resourceVersion = "" } = object.metadata;
  return continues(restoring(undoContext, { verb: "delete", place, preconditions: { uid, resourceVersion } }, "look"));
};
