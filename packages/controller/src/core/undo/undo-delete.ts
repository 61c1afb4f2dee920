import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { differingPaths, withServerMutations } from "../merge/server-mutations.ts";
import { isAllocated, isService, reallocated, takenOf, withoutAllocations } from "./service-allocations.ts";
import { recordedBefore, snapshotOf } from "../snapshots/prior-state.ts";
import { recreateBody, writable } from "../merge/write-body.ts";
import { exceedsMemory } from "../state/memory-budget.ts";
import type { ApiCall, Effect } from "../state/effect.ts";
import { withoutEphemeral } from "../merge/ephemeral-containers.ts";
import type { Path } from "../merge/field-set.ts";
import { showPaths } from "../merge/show-path.ts";
import { fieldValue } from "../merge/field-value.ts";
import { claimsDeletedBy } from "../kubernetes/stateful-set-claims.ts";
import { withoutGenerated } from "../merge/job-selector.ts";
import { stateOf } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { changeIn, rollbackIn, unchangedConflict, withRollback } from "../state/observations.ts";
import { isSafe } from "../locks/lock-acquisition.ts";
import { awaitedDeletion, type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import {
  isApplied,
  isGarbageCollected,
  isOwnedBy,
  livingOwners,
  withRelinkedOwners,
  withOriginalManagers,
  withNewOwners,
  withNewUids,
} from "../snapshots/owner-references.ts";
import { isMarked, isOurs } from "../merge/marks.ts";
import { recreatedOwnership } from "../merge/recreated-ownership.ts";
import { POLL_INTERVAL } from "../state/reconcile-context.ts";
import { itemsOf, readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { belongsToMissingAccount, withoutOldToken } from "./service-account-token.ts";
import {
  conflict,
  conflictPause,
  continues,
  refusedFor,
  restoring,
  rollbackFailed,
  type UndoContext,
  type UndoStep,
  withGoal,
} from "./undo-context.ts";
import { deletedNamespace } from "./deleted-together.ts";
import { isEmpty, type KubeObject } from "@janus/types";

/**
 * Creates a deleted object again: first the object, then its new uid is recorded in the journal, then its field
 * ownership is restored. Allocations of a Service that are taken meanwhile are replaced, with a warning;
 * ephemeral containers of a Pod are left out.
 */
export const undoDelete = (undoContext: UndoContext, before: KubeObject): UndoStep => {
  const { seen, place, journal, index, context } = undoContext;
  const { txn, known, now } = context;
  const { object } = seen;
  const created = journal.created.get(index);
  const former = withoutOldToken(txn, journal, withoutEphemeral(before));
  const namespace =
    object === undefined && unchangedConflict(known, index, object) !== undefined
      ? deletedNamespace(undoContext)
      : undefined;
  if (namespace !== undefined) return rollbackFailed(`${formatRef(place)} cannot be restored without ${namespace}`);
  if (object === undefined && created === undefined && belongsToMissingAccount(txn, journal, before))
    return rollbackFailed(`${formatRef(place)} cannot be restored without its ServiceAccount`);
  if (object === undefined)
    return created === undefined
      ? continues(recreate(undoContext, withoutAllocations(former, rollbackIn(known, index).taken ?? [])))
      : conflict(`${formatRef(place)} was restored, and deleted again by another client`);
  const { uid = "" } = object.metadata;
  if (uid === before.metadata.uid) {
    const until = seen.at + POLL_INTERVAL;
    if (object.metadata.deletionTimestamp === undefined) return { type: "restored", stillThere: uid };
    if (now >= until) return continues(readTarget(undoContext, refusedFor(undoContext)));
    return { type: "wait", until, because: awaitedDeletion(place, object) };
  }
  if (created === undefined && !isMarked(object, txn.metadata.uid))
    return conflict(`${formatRef(place)} was created by another client meanwhile: left unchanged`);
  if (created === undefined) return continues(checkpoint(txn, journal, { created: [index, uid] }));
  if (uid !== created)
    return conflict(`${formatRef(place)} was created again by another client meanwhile: left unchanged`);
  if (!isMarked(object, txn.metadata.uid))
    return adopt(undoContext, before) ?? { type: "restored", ...warningsOf(undoContext, before) };
  const live = withNewUids(txn, journal, former, object);
  const managedFields = recreatedOwnership(withNewOwners(txn, journal, former), live, txn.metadata.uid);
  const body = { ...object, metadata: { ...object.metadata, managedFields } };
  const goal = rollbackIn(known, index).goal ?? withServerMutations(former, bodyOf(undoContext, former), object, place);
  return continues(withGoal(restoring(undoContext, putCall(undoContext, body), "is-live"), undoContext, goal, body));
};

/** The object without allocations and generated values: these are reported separately, or irrelevant. */
const comparable = (object: KubeObject, { resource }: ObjectRef): KubeObject =>
  withoutAllocations(withoutGenerated(object), isService(resource) ? ["addresses", "ports"] : []);

/** Fields to which the API server or admission has given other values than before. */
const changedFields = (before: KubeObject, goal: KubeObject, place: ObjectRef): readonly Path[] => {
  const [was, is] = [before, goal].map((object) => comparable(object, place));
  return differingPaths(was, is).filter((path) => fieldValue(is, path) !== undefined);
};

/**
 * Warnings about what is not as before: values that the API server did not restore, and what the garbage
 * collector deleted.
 */
const warningsOf = (undoContext: UndoContext, was: KubeObject): { readonly warning?: string } => {
  const { context, journal, index, change, place, seen } = undoContext;
  const { txn } = context;
  const before = recordedBefore(txn, journal, index);
  const standing = withoutEphemeral(was);
  const former = withoutOldToken(txn, journal, standing);
  const live = seen.object ?? former;
  // A response to a former process, or one that was removed from memory, is unknown: the live object is used
  // instead.
  const goal = rollbackIn(context.known, index).goal;
  const changed = changedFields(
    former,
    goal ?? withServerMutations(former, bodyOf(undoContext, former), live, place),
    place,
  );
  const whoever = goal === undefined ? "admission, or another client," : "admission";
  const lost = lostFields(withoutGenerated(former), live, place);
  // Claims go with a StatefulSet also where the ServiceAccount could not list them.
  const dependents = (before.existed ? before.dependents : undefined) ?? claimsDeletedBy(change, was)?.names;
  const warnings = [
    ...(standing === was ? [] : ["its ephemeral containers were not restored"]),
    ...(former === standing ? [] : ["it has a new token, of its new ServiceAccount"]),
    ...(isService(place.resource) ? reallocated(former, live) : []),
    ...(changed.length === 0 ? [] : [`${whoever} has set other values for ${showPaths(changed)}`]),
    ...(lost.length === 0 ? [] : [`the API server did not restore ${showPaths(lost)}`]),
    ...(dependents === undefined ? [] : [`deleted with it, and not restored: ${dependents}`]),
  ];
  return warnings.length === 0 ? {} : { warning: `${formatRef(place)}: ${warnings.join("; ")}` };
};

/** Fields that have lost their value, except for allocations, and for owners, which are restored later. */
const lostFields = (before: KubeObject, live: KubeObject, place: ObjectRef): readonly Path[] => {
  const { ownerReferences: _, ...metadata } = before.metadata;
  const [was, is] = [{ ...before, metadata }, live].map((object) => writable(object, place));
  return differingPaths(was, is).filter(
    (path) =>
      fieldValue(is, path) === undefined && !isEmpty(fieldValue(was, path)) && !isAllocated(place.resource, path),
  );
};

const putCall = ({ place, context }: UndoContext, body: KubeObject): ApiCall["call"] => ({
  verb: "update",
  place,
  manager: fieldManager(context.txn.metadata),
  body,
});

/**
 * Makes the object, which exists again under a new uid, the owner of its dependents again: of all targets that
 * named it, whether rollback has restored them before it, or their changes were never applied. In two PUTs each,
 * as in {@link undoEdit}. A target that the garbage collector deleted before its own Delete is created again
 * first.
 */
const adopt = (undoContext: UndoContext, before: KubeObject): UndoStep | undefined => {
  const { context, journal } = undoContext;
  const { txn, known } = context;
  for (const item of itemsOf(txn, known)) {
    if (item.change.type === "Create" || item.index === undoContext.index || isYetToCome(undoContext, item.index))
      continue;
    const owner = before.metadata.uid ?? "";
    const { ownersBefore, target: seen, lock } = changeIn(known, item.index);
    if (ownersBefore?.includes(owner) === false) continue;
    const snapshot = snapshotOf(txn, known, journal, item.index);
    if (snapshot.type === "unread")
      return continues(...snapshot.effects.map((request) => looking(request, item.index, owner)));
    if (snapshot.type !== "object" || !isOwnedBy(snapshot.object, before.metadata.uid)) continue;
    if (seen === undefined) return continues(readTarget(item, refusedFor(undoContext)));
    const { object } = seen;
    if (!isSafe(lock, context)) return { type: "lock", index: item.index };
    const dependent: UndoContext = { ...undoContext, ...item, seen };
    const pausing = conflictPause(dependent);
    if (pausing !== undefined) return pausing;
    const recreating = isCollected(dependent, snapshot.object) ? undoDelete(dependent, snapshot.object) : undefined;
    if (recreating?.type === "run")
      return continues(...recreating.effects.map((effect) => onBehalf(undoContext, item, effect)));
    if (recreating !== undefined && recreating.type !== "restored") return recreating;
    const uid = journal.created.get(item.index) ?? snapshot.object.metadata.uid ?? "";
    if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) continue;
    const adopted = withRelinkedOwners(txn, journal, snapshot.object, object);
    const body =
      adopted === object
        ? withOriginalManagers(txn, journal, snapshot.object, object, (entry) => isOurs(entry, txn.metadata.uid))
        : adopted;
    if (body !== undefined)
      return continues(onBehalf(undoContext, item, restoring(dependent, putCall(dependent, body), "is-live")));
  }
  return undefined;
};

/** Data without this owner is removed from memory at once if it is large: there may be many stores to read. */
const looking = (request: ApiCall, index: number, owner: string): ApiCall => ({
  ...request,
  onAnswer: (known, ...answer) => {
    const after = request.onAnswer(known, ...answer);
    const isOwned = changeIn(after, index).ownersBefore?.includes(owner) ?? true;
    return isOwned || !exceedsMemory(after.storeData) ? after : { ...after, storeData: known.storeData };
  },
});

/** Whether an item is rolled back after this one: it sees the new owner then. */
const isYetToCome = ({ index, context: { txn }, journal }: UndoContext, other: number): boolean => {
  const { type: at } = stateOf(txn.status.items[other]?.state ?? { type: "untouched" }, other, journal);
  return other < index && at === "committed" && !journal.created.has(other);
};

/** Whether it was deleted with its owners, all of which the Transaction has deleted, before its own Delete. */
const isCollected = ({ change, index, seen, journal, context }: UndoContext, before: KubeObject): boolean =>
  change.type === "Delete" &&
  !isApplied(journal, index) &&
  seen.object?.metadata.uid !== before.metadata.uid &&
  isGarbageCollected(context.txn, journal, before);

/** A request for a dependent of the owner: a rejection is recorded on the owner. */
const onBehalf = (owner: ResolvedItem, dependent: ResolvedItem, effect: Effect): Effect => {
  if (!("call" in effect)) return effect;
  const onAnswer: ApiCall["onAnswer"] = (known, ...answer) => {
    const { refusal: former } = rollbackIn(known, dependent.index);
    const after = effect.onAnswer(withRollback(known, dependent.index, { refusal: undefined }), ...answer);
    const { refusal } = rollbackIn(after, dependent.index);
    const others = withRollback(after, dependent.index, { refusal: former });
    return refusal === undefined ? others : withRollback(others, owner.index, { refusal });
  };
  return { ...effect, onAnswer };
};

const bodyOf = ({ place, context: { txn }, journal }: UndoContext, before: KubeObject): object =>
  recreateBody(before, place, txn.metadata, livingOwners(txn, journal, before));

const recreate = (undoContext: UndoContext, before: KubeObject): ApiCall => {
  const { place, index, context } = undoContext;
  const body = bodyOf(undoContext, before);
  const call = { verb: "create", place, manager: fieldManager(context.txn.metadata), body } as const;
  const request = withGoal(restoring(undoContext, call, "is-live"), undoContext, before, body);
  return {
    ...request,
    onAnswer: (known, answer, now, sent) => {
      const { taken: before = [] } = rollbackIn(known, index);
      const taken = E.isLeft(answer) ? takenOf(place.resource, answer.left) : undefined;
      return taken === undefined || before.includes(taken)
        ? request.onAnswer(known, answer, now, sent)
        : withRollback(known, index, { taken: [...before, taken] });
    },
  };
};
