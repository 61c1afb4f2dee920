// Undoes a Create: deletes the object that it created, by uid.
import { RETRY_ROLLBACK } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { adopted, unseenAdopted } from "./adopted.ts";
import { contents, findUnseen, unseen } from "./namespace-contents.ts";
import { formerClaims } from "./former-claims.ts";
import { awaitedDeletion, formatRef } from "../kubernetes/kube-object.ts";
import { otherTransaction } from "../merge/field-managers.ts";
import { isMarked } from "../merge/marks.ts";
import { firstStep } from "../state/effect.ts";
import { readTarget } from "../state/resolved-changes.ts";
import { releasedVolume, storageOfOthers } from "./prior-storage.ts";
import { conflict, continues, refusedFor, restoring, type UndoStep, type UndoContext } from "./undo-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** Keeps an object that a later Transaction has changed. An edit of any other client goes with the object. */
const changedSince = ({ seen: { object }, place, context: { txn } }: UndoContext): UndoStep | undefined => {
  const other = object === undefined ? undefined : otherTransaction(object, txn.metadata.uid);
  return other === undefined
    ? undefined
    : conflict(
        `${formatRef(place)} is not deleted, since ${other} has changed it: roll that back first, and retry with the annotation ${RETRY_ROLLBACK}, or delete it yourself`,
      );
};

/** The checks that may keep it from being deleted, in this order: those that need no request come first. */
const CHECKS: readonly ((undoContext: UndoContext) => UndoStep | undefined)[] = [
  changedSince,
  contents,
  (undoContext) => formerClaims(undoContext, { type: "Delete", target: undoContext.change.target }),
  storageOfOthers,
  adopted,
];

/** Deletes the object that the change created, by uid, and waits until it is gone. */
export const undoCreate = (undoContext: UndoContext): UndoStep => {
  const { seen, place, journal, index, context } = undoContext;
  const recorded = context.txn.status.items[index]?.state;
  const created = journal.created.get(index) ?? (recorded?.type === "committed" ? recorded.created : undefined);
  const { object } = seen;
  if (object === undefined) {
    const warning = unseen(undoContext) ?? unseenAdopted(undoContext) ?? releasedVolume(undoContext);
    return findUnseen(undoContext) ?? { type: "restored", ...(warning === undefined ? {} : { warning }) };
  }
  const ours = created === undefined ? isMarked(object, context.txn.metadata.uid) : object.metadata.uid === created;
  if (!ours) return conflict(`${formatRef(place)} was deleted and created again by another client: left unchanged`);
  return removeCreated(undoContext, object);
};

/** Deletes an object of this Transaction, unless something keeps it from being deleted, and waits until it is gone. */
export const removeCreated = (undoContext: UndoContext, object: KubeObject): UndoStep => {
  const { seen, place, context } = undoContext;
  if (object.metadata.deletionTimestamp !== undefined) {
    const finding = findUnseen(undoContext);
    if (finding !== undefined) return finding;
    const until = seen.at + POLL_INTERVAL;
    if (context.now >= until) return continues(readTarget(undoContext, refusedFor(undoContext)));
    return { type: "wait", until, because: awaitedDeletion(place, object) };
  }
  const held = firstStep(CHECKS, undoContext);
  if (held !== undefined)
    return held.type === "rollback-failed" && held.conflict === true ? { ...held, retryOnRequest: true } : held;
  const { uid = "", resourceVersion = "" } = object.metadata;
  return continues(restoring(undoContext, { verb: "delete", place, preconditions: { uid, resourceVersion } }));
};
