import { type Change, marks } from "@janus/api";
import { type TransactionRef, marked, desiredState, writable } from "./write-body.ts";
import { withListMapDefaults } from "./list-map-defaults.ts";
import { type Fields, fieldsOf, filter, isWhole, nodeAt, none, type Path, union, valueAt } from "./field-set.ts";
import { byWriter, ANCIENT_CHANGES, expandAncientChanges, writerOf } from "./ancient-changes.ts";
import { asObject, equal } from "../kubernetes/json.ts";
import { threeWayMerge } from "./three-way-merge.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { KubeObject, ManagedFieldsEntry } from "@janus/types";

/** What is to be done to put an object back. */
export interface Restoration {
  /** The body of the next PUT; absent when nothing of ours is left in the object. */
  readonly put?: object;
  /** Fields that somebody took over since: left as they are. */
  readonly conflicts: readonly Path[];
}

/** Whether the object carries this Transaction's mark: an entry of its field manager, whatever the operation. */
export const isMarked = (object: KubeObject, uid: string): boolean =>
  (object.metadata.managedFields ?? []).some((entry) => marks(entry.manager ?? "", uid));

/** Its own entry tells which fields a Patch has set. It is gone where managedFields was cleared, or once they are rolled back. */
const isOfPatch =
  ({ uid }: TransactionRef) =>
  ({ manager = "", operation }: ManagedFieldsEntry): boolean =>
    operation === "Apply" && marks(manager, uid);

/** Under this name the API server books what it finds when the first apply comes to an object that nothing was booked of. */
const FIRST_APPLY = "before-first-apply";

/**
 * Whether managedFields has lost more than later writes take out of it, so that our mark may have gone, too: it was cleared,
 * by a client or an admission webhook; it was cleared, and booked anew by the first apply since; what somebody owned is
 * there, and nobody's; or so many have written that the oldest are booked together.
 */
export const hasLostMarks = (before: KubeObject, live: KubeObject): boolean => {
  const entries = live.metadata.managedFields ?? [];
  const former = before.metadata.managedFields ?? [];
  const owned = fieldsOf(entries);
  const isNobodys = (path: Path): boolean => nodeAt(owned, path) === undefined && valueAt(live, path) !== undefined;
  const isNew = (manager: string): boolean =>
    entries.some((entry) => entry.manager === manager && !former.some((other) => equal(other, entry)));
  return (
    entries.length === 0 ||
    isNew(FIRST_APPLY) ||
    isNew(ANCIENT_CHANGES) ||
    !isWhole(filter(fieldsOf(former), isNobodys))
  );
};

/**
 * What clears managedFields. An empty list is documented not to.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#clearing-managedfields
 */
const NOBODY: readonly ManagedFieldsEntry[] = [{}];
const orNobody = (entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] =>
  entries.length === 0 ? NOBODY : entries;

/** The last write of an entry's writer. */
const writeOf = (entry: ManagedFieldsEntry): string => `${entry.time} ${writerOf(entry)}`;

/** What others own in the live object; where our apply was the first, what was booked for its sake goes with it. */
const entriesOfOthers = (before: KubeObject, live: KubeObject, uid: string): readonly ManagedFieldsEntry[] => {
  const unbooked = (before.metadata.managedFields ?? []).length === 0;
  return (live.metadata.managedFields ?? []).filter(
    ({ manager = "" }) => !marks(manager, uid) && !(unbooked && manager === FIRST_APPLY),
  );
};

/**
 * Who owns what once our change is taken out: the live entries without ours, and what we took from its former owners given
 * back to them where the value of before is back.
 */
const ownership = (
  before: KubeObject,
  live: KubeObject,
  restored: object,
  isAsBefore: boolean,
  ours: Fields,
  author: TransactionRef,
): readonly ManagedFieldsEntry[] => {
  const formerEntries = before.metadata.managedFields ?? [];
  const liveEntries = expandAncientChanges(formerEntries, entriesOfOthers(before, live, author.uid));
  const theirs = fieldsOf(liveEntries);
  const isBack = (path: Path, former: Fields, isOfThisVersion: boolean): boolean => {
    const value = valueAt(restored, path);
    // An empty one; or a field of another version, where it has no value here: it is back when all that can be seen is.
    if (value === undefined)
      return (
        (isOfThisVersion || isAsBefore) && valueAt(before, path) === undefined && nodeAt(theirs, path) === undefined
      );
    const taken = nodeAt(ours, path) !== undefined || valueAt(live, path) === undefined;
    return taken && (!isWhole(nodeAt(former, path) ?? none) || equal(value, valueAt(before, path)));
  };
  const givenBack = (former: ManagedFieldsEntry): Fields => {
    const fields = former.fieldsV1 ?? none;
    return filter(fields, (path) => isBack(path, fields, former.apiVersion === live.apiVersion));
  };
  const [formerWriters, liveWriters] = [byWriter(formerEntries), byWriter(liveEntries)];
  const kept = liveEntries.map((entry) => {
    const former = formerWriters.get(writerOf(entry));
    if (former === undefined) return entry;
    const fieldsV1 = union([entry.fieldsV1 ?? none, givenBack(former)]);
    if (equal(fieldsV1, entry.fieldsV1)) return entry;
    return equal(fieldsV1, former.fieldsV1) ? former : { ...entry, fieldsV1 };
  });
  const returning = formerEntries
    .filter((former) => !liveWriters.has(writerOf(former)))
    .flatMap((former) => {
      const fieldsV1 = givenBack(former);
      if (equal(fieldsV1, former.fieldsV1)) return [former];
      return isWhole(fieldsV1) ? [] : [{ ...former, fieldsV1 }];
    });
  return [...kept, ...returning];
};

/** Who owns what in an object that was created again: as before, but for what others have taken over since. */
export const recreatedOwnership = (
  before: KubeObject,
  live: KubeObject,
  uid: string,
): readonly ManagedFieldsEntry[] => {
  const since = (live.metadata.managedFields ?? []).filter((entry) => !marks(entry.manager ?? "", uid));
  const taken = fieldsOf(since);
  const former = (before.metadata.managedFields ?? []).flatMap((entry) => {
    const fields = entry.fieldsV1 ?? none;
    const fieldsV1 = filter(fields, (path) => {
      const isLost = nodeAt(taken, path) !== undefined && isWhole(nodeAt(fields, path) ?? none);
      return !isLost || equal(valueAt(live, path), valueAt(before, path));
    });
    if (equal(fieldsV1, fields)) return [entry];
    return isWhole(fieldsV1) ? [] : [{ ...entry, fieldsV1 }];
  });
  const [formerWriters, writersSince] = [byWriter(former), byWriter(since)];
  const all = [
    ...former.map((entry) => {
      const again = writersSince.get(writerOf(entry));
      return again === undefined
        ? entry
        : { ...again, fieldsV1: union([entry.fieldsV1 ?? none, again.fieldsV1 ?? none]) };
    }),
    ...since.filter((entry) => !formerWriters.has(writerOf(entry))),
  ];
  return orNobody(all);
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
  const entries = live.metadata.managedFields ?? [];
  const formerEntries = before.metadata.managedFields ?? [];
  const others = entriesOfOthers(before, live, author.uid);
  const formerWrites = new Set(formerEntries.map(writeOf));
  const hasWritten = (entry: ManagedFieldsEntry): boolean => !formerWrites.has(writeOf(entry));
  const ours = fieldsOf(entries.filter((entry) => marks(entry.manager ?? "", author.uid)));
  const theirs = fieldsOf(others);
  const was = writable(before, place);
  const is = writable(live, place);
  const known = union([ours, theirs, fieldsOf(formerEntries)]);
  const merged = threeWayMerge(was, is, {
    ours,
    theirs,
    since: fieldsOf(others.filter(hasWritten)),
    known,
    content: withListMapDefaults(desiredState(change, place, before), [is, was], known, ours),
    replaces: change.type === "Update",
    isBlind: change.type === "Patch" && !entries.some(isOfPatch(author)),
  });
  const isInPlace = equal(merged.value, is);
  if (isInPlace && !isMarked(live, author.uid)) return { conflicts: merged.conflicts };
  const owned = ownership(before, live, merged.value, equal(merged.value, was), ours, author);
  // For a write that only takes values away nobody is booked, but others may lose what they own there: it needs another one.
  const isLast = isInPlace || formerEntries.length === 0;
  return {
    conflicts: merged.conflicts,
    put: {
      ...(place.resource.statusSubresource && live["status"] !== undefined ? { status: live["status"] } : {}),
      ...merged.value,
      apiVersion: live.apiVersion,
      kind: live.kind,
      metadata: {
        ...asObject(merged.value["metadata"]),
        ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
        name: place.name,
        uid: live.metadata.uid,
        resourceVersion: live.metadata.resourceVersion,
        managedFields: isLast ? orNobody(owned) : marked(owned, author, live.apiVersion),
      },
    },
  };
};
