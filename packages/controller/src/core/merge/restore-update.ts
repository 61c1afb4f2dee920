// Computes the PUTs that restore an updated object and its field ownership.
import { contentOf, desiredState, marked, RESTORED_MARK, type TransactionRef, writable } from "./write-body.ts";
import { entriesOf, entriesOfOthers, isMarked, isOurs, showsPatch, withoutMarks } from "./marks.ts";
import { child, type Fields, fieldsOf, none, type Path, union } from "./field-set.ts";
import { asObject, equal, type JsonObject, type KubeObject, type ManagedFieldsEntry } from "@janus/types";
import { orNoManager, restoredOwnership } from "./restored-ownership.ts";
import { fieldManager, type ResolvedChange } from "@janus/api";
import { CONTROLLED_BY, controlledFields } from "../kubernetes/controlled-fields.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { boundSince } from "./pod-binding.ts";
import { takeOver } from "./take-over.ts";
import { threeWayMerge } from "./three-way-merge.ts";
import { withListMapDefaults } from "./list-map-defaults.ts";
import { settledSince, writtenSince } from "./field-managers.ts";

/** How to restore an object. */
export interface Restoration {
  /** The body of the next PUT; absent if the object has no field of ours any more. */
  readonly put?: object;
  /** Fields that other clients have taken over: left unchanged. */
  readonly conflicts: readonly Path[];
  /** Fields that are not as before, and that no client manages, as where admission has set them: left unchanged. */
  readonly unclaimed: readonly Path[];
}

/** Whether the change has given fields to a controller: it has made the object an aggregated ClusterRole, and nobody else has since. */
const hasGivenAway = (
  change: ResolvedChange,
  place: ObjectRef,
  was: JsonObject,
  is: JsonObject,
  ours: Fields,
): boolean => {
  const isControlled = (object: JsonObject): boolean => controlledFields(place.resource, object, undefined).length > 0;
  const isOfOthers = isControlled(is) && child(ours, "f:aggregationRule") === undefined;
  return isControlled(contentOf(change)) && !isControlled(was) && !isOfOthers;
};

/**
 * Restores an updated or patched object, one PUT after the other, until it has no field of ours.
 *
 * Guarantees: what only the Transaction changed is as before, field managers included; changes of other clients
 *             are kept. Each PUT is decided on the live object alone, so that a crash between two of them is
 *             harmless: the first restores the values (which the API server records as ours again), the next one
 *             the ownership.
 * Assumes: the change was applied to `before`, and `live` is the same object (uid).
 *
 * @param yieldsToOthers see {@link ChangeMade}
 */
export const restoration = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  live: KubeObject,
  author: TransactionRef,
  yieldsToOthers = false,
): Restoration => {
  const formerEntries = entriesOf(before);
  const was = writable(before, place);
  const is = writable(live, place);
  const everyone = entriesOf(live);
  const own = fieldsOf(everyone.filter((entry) => isOurs(entry, author.uid)));
  // What a controller has set because of the change is part of it.
  const isOfChange = hasGivenAway(change, place, was, is, own)
    ? ({ manager }: ManagedFieldsEntry): boolean => manager === CONTROLLED_BY
    : (): boolean => false;
  const others = entriesOfOthers(before, live, author.uid).filter((entry) => !isOfChange(entry));
  const ours = union([own, fieldsOf(everyone.filter(isOfChange))]);
  const managedByOthers = withoutMarks(fieldsOf(others));
  const bound = boundSince(before, live, [managedByOthers, ours]);
  const theirs = union([managedByOthers, bound]);
  const settled = new Set(settledSince(formerEntries, others, author));
  const former = fieldsOf(formerEntries);
  const managed = union([ours, theirs, former]);
  const over = takeOver(change, place, before);
  const isBlind = change.type === "Patch" && !showsPatch(live, author.uid);
  const { value, conflicts, unclaimed } = threeWayMerge(was, is, {
    ours,
    theirs,
    since: fieldsOf(writtenSince(formerEntries, others)),
    possiblyNewer: union([fieldsOf(others.filter((entry) => !settled.has(entry))), bound]),
    former,
    managed,
    content: withListMapDefaults(desiredState(change, place, before), [is, was], { managed, ours, theirs, former }),
    removed: change.type === "Update" ? none : over?.leftOut,
    isBlind,
    isByPut: change.type === "Update" || over !== undefined,
    yieldsToOthers,
  });
  const isInPlace = equal(value, is);
  if (isInPlace && !isMarked(live, author.uid)) return { conflicts, unclaimed };
  const owned = restoredOwnership({
    before,
    live,
    restored: value,
    isAsBefore: equal(value, was),
    ours,
    others,
    dropped: over?.earlier ?? [],
  });
  // A write that only removes values gets no entry, but other clients may lose ownership by it: another PUT is
  // needed.
  const isLast = isInPlace || formerEntries.length === 0;
  return {
    conflicts,
    unclaimed,
    put: {
      ...(place.resource.statusSubresource && live["status"] !== undefined ? { status: live["status"] } : {}),
      ...value,
      apiVersion: live.apiVersion,
      kind: live.kind,
      metadata: {
        ...asObject(value["metadata"]),
        ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
        name: place.name,
        uid: live.metadata.uid,
        resourceVersion: live.metadata.resourceVersion,
        managedFields: isLast
          ? orNoManager(owned)
          : marked(owned, fieldManager(author), live.apiVersion, isBlind ? undefined : RESTORED_MARK),
      },
    },
  };
};
