import { desiredState, marked, type TransactionRef, writable } from "./write-body.ts";
import { entriesOf, entriesOfOthers, hasEntryOfPatch, isMarked, isOurs } from "./marks.ts";
import { fieldsOf, type Path, union } from "./field-set.ts";
import type { KubeObject, ManagedFieldsEntry } from "@janus/types";
import { orNobody, restoredOwnership } from "./restored-ownership.ts";
import { asObject, equal } from "../kubernetes/json.ts";
import type { Change } from "@janus/api";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { threeWayMerge } from "./three-way-merge.ts";
import { withListMapDefaults } from "./list-map-defaults.ts";
import { writerOf } from "./ancient-changes.ts";

/** What is to be done to put an object back. */
export interface Restoration {
  /** The body of the next PUT; absent when nothing of ours is left in the object. */
  readonly put?: object;
  /** Fields that somebody took over since: left as they are. */
  readonly conflicts: readonly Path[];
}

type Entries = readonly ManagedFieldsEntry[];

/** The last write of an entry's writer. */
const writeOf = (entry: ManagedFieldsEntry): string => `${entry.time} ${writerOf(entry)}`;

/** The entries of those who have written since. */
const writtenSince = (former: Entries, entries: Entries): Entries => {
  const formerWrites = new Set(former.map(writeOf));
  return entries.filter((entry) => !formerWrites.has(writeOf(entry)));
};

/**
 * Puts an updated or patched object back, one PUT after the other, until nothing of ours is left in it.
 *
 * Guarantees: what only the Transaction changed is as before, its owners included; what others changed since stays theirs.
 *             Each PUT is decided on the live object alone, so that a crash between two of them costs nothing: the first
 *             restores the values (which the API server books to us once more), the next one the ownership.
 * Assumes:    the change was made to `before`, and `live` is the same object (uid).
 */
export const restoration = (
  change: Change,
  place: ObjectRef,
  before: KubeObject,
  live: KubeObject,
  author: TransactionRef,
): Restoration => {
  const formerEntries = entriesOf(before);
  const others = entriesOfOthers(before, live, author.uid);
  const ours = fieldsOf(entriesOf(live).filter((entry) => isOurs(entry, author.uid)));
  const theirs = fieldsOf(others);
  const known = union([ours, theirs, fieldsOf(formerEntries)]);
  const was = writable(before, place);
  const is = writable(live, place);
  const { value, conflicts } = threeWayMerge(was, is, {
    ours,
    theirs,
    since: fieldsOf(writtenSince(formerEntries, others)),
    known,
    content: withListMapDefaults(desiredState(change, place, before), [is, was], known, ours),
    replaces: change.type === "Update",
    isBlind: change.type === "Patch" && !hasEntryOfPatch(live, author.uid),
  });
  const isInPlace = equal(value, is);
  if (isInPlace && !isMarked(live, author.uid)) return { conflicts };
  const owned = restoredOwnership({ before, live, restored: value, isAsBefore: equal(value, was), ours, others });
  // For a write that only takes values away nobody is booked, but others may lose what they own there: it needs another one.
  const isLast = isInPlace || formerEntries.length === 0;
  return {
    conflicts,
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
        managedFields: isLast ? orNobody(owned) : marked(owned, author, live.apiVersion),
      },
    },
  };
};
