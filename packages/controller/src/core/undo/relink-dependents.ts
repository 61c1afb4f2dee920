// Makes an object that was created again the owner of its dependents.
import { deletes, marks } from "@janus/api";
import type { KubeObject, ManagedFieldsEntry } from "@janus/types";
import { isSafe } from "../locks/lock-acquisition.ts";
import {
  isApplied,
  isGarbageCollected,
  isOwnedBy,
  withOriginalManagers,
  withRelinkedOwners,
} from "../snapshots/owner-references.ts";
import { snapshotOf } from "../snapshots/prior-state.ts";
import type { ApiCall } from "../state/effect.ts";
import { itemState } from "../state/journal.ts";
import { changeIn } from "../state/observations.ts";
import { itemsOf, readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import {
  continues,
  conflictPause,
  putCall,
  refusedFor,
  restoring,
  type UndoContext,
  type UndoStep,
} from "./undo-context.ts";

/** How a deleted object is created again; see `undo-delete.ts`. */
type Recreate = (dependent: UndoContext, before: KubeObject) => UndoStep;

/**
 * Makes an object that exists again, under a new uid, the owner of its dependents again: of all targets that named
 * it, whether rollback has restored them before it, or their changes were never applied. Undefined once all are done.
 *
 * @example a ReplicaSet with uid 1 was deleted, and is there again with uid 2
 *   Pod a was rolled back before it, without an owner   → a PUT names owner 2, another one gives that to its manager
 *   Pod b was never touched, and names owner 1          → the same
 *   Pod c went with owner 1, before its own Delete      → it is created again first
 *   Pod d is rolled back later                          → nothing: owner 2 is there by then
 */
export const relinkDependents = (owner: UndoContext, before: KubeObject, recreate: Recreate): UndoStep | undefined => {
  const { txn, known } = owner.context;
  for (const item of itemsOf(txn, known)) {
    const step = mayNameIt(owner, before, item) ? relink(owner, before, item, recreate) : undefined;
    if (step !== undefined) return step;
  }
  return undefined;
};

/** Whether it may name the object, as far as is known without its snapshot. */
const mayNameIt = (
  owner: UndoContext,
  { metadata: { uid = "" } }: KubeObject,
  { change, index }: ResolvedItem,
): boolean =>
  change.type !== "Create" &&
  index !== owner.index &&
  !isYetToCome(owner, index) &&
  changeIn(owner.context.known, index).ownersBefore?.includes(uid) !== false;

/** Whether an item is rolled back after this one: it sees the new owner then. */
const isYetToCome = ({ index, context: { txn }, journal }: UndoContext, other: number): boolean => {
  const { type: at } = itemState(txn, other, journal);
  return other < index && at === "committed" && !journal.created.has(other);
};

/** The next step for one target; undefined if it did not name the owner, or is done. */
const relink = (
  owner: UndoContext,
  { metadata: { uid } }: KubeObject,
  item: ResolvedItem,
  recreate: Recreate,
): UndoStep | undefined => {
  const { context, journal } = owner;
  const { txn, known } = context;
  const snapshot = snapshotOf(txn, known, journal, item.index);
  if (snapshot.type === "unread")
    return continues(...snapshot.effects.map((request) => lookingFor(uid ?? "", request, item.index)));
  if (snapshot.type !== "object" || !isOwnedBy(snapshot.object, uid)) return undefined;
  const { target: seen, lock } = changeIn(known, item.index);
  if (seen === undefined) return continues(readTarget(item, refusedFor(owner)));
  if (!isSafe(lock, context)) return { type: "lock", index: item.index };
  const dependent: UndoContext = { ...owner, ...item, seen, blamed: owner.blamed ?? owner.index };
  return (
    conflictPause(dependent) ??
    recreateCollected(dependent, snapshot.object, recreate) ??
    putOwner(dependent, snapshot.object)
  );
};

/** Data without this owner is removed from memory at once if it is large: there may be many stores to read. */
const lookingFor = (owner: string, request: ApiCall, index: number): ApiCall => ({
  ...request,
  folds: [...request.folds, { type: "owner-sought", index, owner }],
});

/** Whether it was deleted with its owners, all of which the Transaction has deleted, before its own Delete. */
const isCollected = ({ change, index, seen, journal, context }: UndoContext, before: KubeObject): boolean =>
  deletes(change) &&
  !isApplied(journal, index) &&
  seen.object?.metadata.uid !== before.metadata.uid &&
  isGarbageCollected(context.txn, journal, before);

const recreateCollected = (dependent: UndoContext, before: KubeObject, recreate: Recreate): UndoStep | undefined => {
  if (!isCollected(dependent, before)) return undefined;
  const step = recreate(dependent, before);
  return step.type === "restored" ? undefined : step;
};

const isOurs =
  (uid: string) =>
  ({ manager = "" }: ManagedFieldsEntry): boolean =>
    marks(manager, uid);

/** First with the new owner, then with that owned by its former manager. Not of another object, or of one that goes. */
const putOwner = (dependent: UndoContext, before: KubeObject): UndoStep | undefined => {
  const { journal, index, context, seen } = dependent;
  const { txn } = context;
  const { object } = seen;
  const uid = journal.created.get(index) ?? before.metadata.uid ?? "";
  if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return undefined;
  const relinked = withRelinkedOwners(txn, journal, before, object);
  const body =
    relinked === object ? withOriginalManagers(txn, journal, before, object, isOurs(txn.metadata.uid)) : relinked;
  return body === undefined ? undefined : continues(restoring(dependent, putCall(dependent, body)));
};
