// Decides from the target whether a change was applied whose write got no answer.
import type { ResolvedChange } from "@janus/api";
import { type TransactionRef, writable } from "../merge/write-body.ts";
import type { Path } from "../merge/field-set.ts";
import type { TargetObservation } from "../state/target-observations.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { hasLostMarks, isMarked } from "../merge/marks.ts";
import { overwrittenFields } from "../merge/overwritten-fields.ts";
import { restoration } from "../merge/restore-update.ts";
import { equal, type KubeObject } from "@janus/types";

/** The evidence of the target about a change that is in doubt, or that was rejected because of a conflict. */
export type InDoubtVerdict =
  | { readonly type: "applied"; readonly created?: string }
  /** A Delete was accepted, and finalizers still hold the object. */
  | { readonly type: "terminating"; readonly finalizers: readonly string[] }
  /**
   * It was not applied when the target was read. A request that is still in flight fails if it has
   * preconditions; a Create has none.
   */
  | { readonly type: "not-applied"; readonly object: KubeObject | undefined }
  /**
   * It was not applied, and other clients have modified the target since it was read: `fields` are those that
   * the change would overwrite. `mayBeApplied`: it may have been applied if it was sent, since it would leave no trace.
   */
  | {
      readonly type: "conflict";
      readonly object: KubeObject | undefined;
      readonly fields: readonly Path[];
      readonly mayBeApplied?: true;
    }
  /** It cannot be determined. */
  | { readonly type: "unknown"; readonly why: string };

/** Makes its status a subresource, so that it counts as no part of the object. */
const withoutStatus = (place: ObjectRef): ObjectRef => ({
  ...place,
  resource: { ...place.resource, statusSubresource: true },
});

const isSame = (a: KubeObject, b: KubeObject, place: ObjectRef): boolean =>
  equal(writable(a, place), writable(b, place));

/** Whether two versions of an object differ only in status and server-managed metadata. */
export const sameButStatus = (a: KubeObject, b: KubeObject, place: ObjectRef): boolean =>
  isSame(a, b, withoutStatus(place));

/** Whether the change sets the status: then other writers of the status conflict with it. */
const setsStatus = (change: ResolvedChange, place: ObjectRef): boolean =>
  change.type !== "Delete" && writable(change.content, place)["status"] !== undefined;

const settleCreate = (
  author: TransactionRef,
  created: string | undefined,
  { object }: TargetObservation,
): InDoubtVerdict => {
  if (object === undefined)
    return created === undefined ? { type: "not-applied", object } : { type: "applied", created };
  const uid = object.metadata.uid ?? "";
  if (uid === created || isMarked(object, author.uid)) return { type: "applied", created: uid };
  return created === undefined
    ? { type: "unknown", why: "an object of this name exists whose managedFields do not name this Transaction" }
    : { type: "applied", created };
};

const settleDelete = (place: ObjectRef, before: KubeObject, { object }: TargetObservation): InDoubtVerdict => {
  if (object === undefined) return { type: "applied" };
  if (object.metadata.uid !== before.metadata.uid)
    return { type: "unknown", why: "it was deleted and created again by another client" };
  if (object.metadata.deletionTimestamp !== undefined)
    return { type: "terminating", finalizers: object.metadata.finalizers ?? [] };
  return object.metadata.resourceVersion === before.metadata.resourceVersion || sameButStatus(before, object, place)
    ? { type: "not-applied", object }
    : { type: "conflict", object, fields: [] };
};

const settleEdit = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  { object }: TargetObservation,
  author: TransactionRef,
): InDoubtVerdict => {
  if (object === undefined || object.metadata.uid !== before.metadata.uid)
    return { type: "conflict", object: undefined, fields: [] };
  if (isMarked(object, author.uid)) return { type: "applied" };
  if (object.metadata.resourceVersion === before.metadata.resourceVersion) return { type: "not-applied", object };
  const compared = setsStatus(change, place) ? place : withoutStatus(place);
  if (isSame(before, object, compared)) return { type: "not-applied", object };
  const fields = overwrittenFields(change, compared, before, object);
  // A Patch leaves no mark if other clients have taken over all of its fields. What a rollback would restore may be ours.
  const isTakenOver = change.type === "Patch" && fields.length > 0;
  const isToRestore = restoration(change, place, before, object, author).put !== undefined;
  const mayBeApplied = isTakenOver || isToRestore || hasLostMarks(before, object);
  return { type: "conflict", object, fields, ...(mayBeApplied ? { mayBeApplied } : {}) };
};

/**
 * Reads from a target whether a change was applied to it (docs/internals.md, "In doubt").
 *
 * Guarantees: `applied` only with our mark, with the recorded uid, or for a Delete if the object is absent;
 *             `not-applied` only if the object is as it was read before, except for its status.
 * Assumes: `seen` is a live read, as the ServiceAccount. For a Create, `before` is undefined.
 */
export const resolveInDoubt = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject | undefined,
  created: string | undefined,
  seen: TargetObservation,
  author: TransactionRef,
): InDoubtVerdict => {
  if (change.type === "Create" || before === undefined) return settleCreate(author, created, seen);
  return change.type === "Delete" ? settleDelete(place, before, seen) : settleEdit(change, place, before, seen, author);
};
