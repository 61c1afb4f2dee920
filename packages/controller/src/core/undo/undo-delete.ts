// Undoes a Delete: creates the object again, then restores its ownership and its dependents.
import { fieldManager } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { awaitedDeletion, formatRef } from "../kubernetes/kube-object.ts";
import { isMarked } from "../merge/marks.ts";
import { recreatedOwnership } from "../merge/recreated-ownership.ts";
import { withNewOwners, withNewUids } from "../snapshots/owner-references.ts";
import type { ApiCall } from "../state/effect.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { rollbackIn, unchangedConflict } from "../state/observations.ts";
import { readTarget } from "../state/resolved-changes.ts";
import { deletedNamespace } from "./deleted-together.ts";
import { creationBody, knownGoal, recreatable } from "./recreated-object.ts";
import { recreationWarning } from "./recreation-warnings.ts";
import { relinkDependents } from "./relink-dependents.ts";
import { belongsToMissingAccount } from "./service-account-token.ts";
import { withoutAllocations } from "./service-allocations.ts";
import {
  conflict,
  continues,
  putCall,
  refusedFor,
  restoring,
  rollbackFailed,
  type UndoContext,
  type UndoStep,
} from "./undo-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/**
 * Creates a deleted object again: first the object, then its new uid is recorded in the journal, then its field
 * ownership is restored, and its dependents get it as their owner. Allocations of a Service that are taken meanwhile
 * are replaced, with a warning; ephemeral containers of a Pod are left out.
 *
 * @example a ConfigMap with uid 1 was deleted; what is there in its place says what is next
 *   nothing                                → it is created
 *   uid 2, with our mark, not recorded yet → uid 2 is recorded
 *   uid 2, recorded, with our mark         → a PUT gives its fields to the managers that had them
 *   uid 2, recorded, without our mark      → its dependents are relinked; then it is restored
 *   uid 1                                  → its deletion was not executed: it is restored already, or waited for
 *   anything else                          → conflict
 */
export const undoDelete = (undoContext: UndoContext, before: KubeObject): UndoStep => {
  const { object } = undoContext.seen;
  if (object === undefined) return createAgain(undoContext, before);
  return object.metadata.uid === before.metadata.uid
    ? awaitDeletion(undoContext, object)
    : settleRecreated(undoContext, before, object);
};

/** Nothing is there. */
const createAgain = (undoContext: UndoContext, before: KubeObject): UndoStep => {
  const { place, journal, index, context } = undoContext;
  const { txn, known } = context;
  const isRejected = unchangedConflict(known, index, undefined) !== undefined;
  const namespace = isRejected ? deletedNamespace(undoContext) : undefined;
  if (namespace !== undefined) return rollbackFailed(`${formatRef(place)} cannot be restored without ${namespace}`);
  if (journal.created.has(index))
    return conflict(`${formatRef(place)} was restored, and deleted again by another client`);
  if (belongsToMissingAccount(txn, journal, before))
    return rollbackFailed(`${formatRef(place)} cannot be restored without its ServiceAccount`);
  const wanted = recreatable(undoContext, before);
  return continues(create(undoContext, withoutAllocations(wanted, rollbackIn(known, index).taken ?? [])));
};

/** The very object that was to be deleted is still there. */
const awaitDeletion = (undoContext: UndoContext, object: KubeObject): UndoStep => {
  const { seen, place, context } = undoContext;
  const { uid = "", deletionTimestamp } = object.metadata;
  if (deletionTimestamp === undefined) return { type: "restored", stillThere: uid };
  const until = seen.at + POLL_INTERVAL;
  if (context.now >= until) return continues(readTarget(undoContext, refusedFor(undoContext)));
  return { type: "wait", until, because: awaitedDeletion(place, object) };
};

/** Another object is there: that which this rollback has created, or somebody else's. */
const settleRecreated = (undoContext: UndoContext, before: KubeObject, object: KubeObject): UndoStep => {
  const { place, journal, index, context } = undoContext;
  const { txn } = context;
  const { uid = "" } = object.metadata;
  const created = journal.created.get(index);
  const isUnfinished = isMarked(object, txn.metadata.uid);
  if (created === undefined)
    return isUnfinished
      ? continues(checkpoint(txn, journal, { created: new Map([[index, uid]]) }))
      : conflict(`${formatRef(place)} was created by another client meanwhile: left unchanged`);
  if (uid !== created)
    return conflict(`${formatRef(place)} was created again by another client meanwhile: left unchanged`);
  if (isUnfinished) return continues(restoreOwnership(undoContext, before, object));
  const relinking = relinkDependents(undoContext, before, undoDelete);
  if (relinking !== undefined) return relinking;
  const warning = recreationWarning(undoContext, before);
  return { type: "restored", ...(warning === undefined ? {} : { warning }) };
};

/** The PUT that gives its fields back to the managers that had them before. */
const restoreOwnership = (undoContext: UndoContext, before: KubeObject, object: KubeObject): ApiCall => {
  const { journal, context } = undoContext;
  const { txn } = context;
  const wanted = recreatable(undoContext, before);
  const live = withNewUids(txn, journal, wanted, object);
  const managedFields = recreatedOwnership(withNewOwners(txn, journal, wanted), live, txn.metadata.uid);
  const body = { ...object, metadata: { ...object.metadata, managedFields } };
  // Another client may have written since a create whose answer was lost: the answer to this PUT does not tell.
  const goal = knownGoal(undoContext);
  return restoring(undoContext, putCall(undoContext, body), goal === undefined ? {} : { goal });
};

/** If another Service has an allocation, that is remembered, to create this one without it. */
const create = (undoContext: UndoContext, wanted: KubeObject): ApiCall => {
  const { place, context } = undoContext;
  const body = creationBody(undoContext, wanted);
  const manager = fieldManager(context.txn.metadata);
  return restoring(undoContext, { verb: "create", place, manager, body }, { goal: wanted });
};
