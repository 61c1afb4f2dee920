// Computes the managedFields of a restored object: the live entries, with ours given back to former owners.
import { expandAncientChanges, byWriter, writerOf } from "./ancient-changes.ts";
import { child, type Fields, fieldsOf, filterAlong, holds, isWhole, none, union } from "./field-set.ts";
import { entriesOf } from "./marks.ts";
import { equal, type KubeObject, type ManagedFieldsEntry } from "@janus/types";
import { under } from "./field-value.ts";

type Entries = readonly ManagedFieldsEntry[];

/**
 * The entries that clear managedFields. An empty list is documented not to.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#clearing-managedfields
 */
const NO_MANAGER: Entries = [{}];
export const orNoManager = (entries: Entries): Entries => (entries.length === 0 ? NO_MANAGER : entries);

/** An object whose change is rolled back. */
export interface RestoredObject {
  readonly before: KubeObject;
  readonly live: KubeObject;
  /** The object to restore, without identity and server-managed metadata; and whether that is wholly as before. */
  readonly restored: object;
  readonly isAsBefore: boolean;
  /** The fields that the Transaction manages in the live object, and the entries of all other managers. */
  readonly ours: Fields;
  readonly others: Entries;
  /** The former entries that the change has taken out of managedFields ({@link takeOver}), whatever became of their fields. */
  readonly dropped: Entries;
}

/** A field of a former manager: the part that it managed, the managers in the live object, and its values. */
interface FormerField {
  readonly former: Fields | undefined;
  readonly ours: Fields | undefined;
  readonly theirs: Fields | undefined;
  readonly before: unknown;
  readonly live: unknown;
  readonly restored: unknown;
}

const fieldIn = ({ former, ours, theirs, before, live, restored }: FormerField, element: string): FormerField => {
  const read = under(element);
  const was = read(before);
  return {
    former: child(former, element),
    ours: child(ours, element),
    theirs: child(theirs, element),
    before: was,
    live: read(live),
    // Usually, this is the identical former value.
    restored: restored === before ? was : read(restored),
  };
};

/** Whether the former value is restored, which the Transaction had taken over from its manager. */
const isValueBack = ({ former, ours, before, live, restored }: FormerField): boolean => {
  const taken = ours !== undefined || live === undefined;
  return taken && (!isWhole(former ?? none) || equal(restored, before));
};

/** Whether a field that had no value still has none: an empty one, or one that only another version of the kind has. */
const isAbsentAsBefore = ({ before, theirs }: FormerField): boolean => before === undefined && theirs === undefined;

/**
 * Whether its former manager gets the field back.
 *
 * @example gitops managed `image: v1`, which the Transaction has set to v2
 *   image: v1 again                       → yes
 *   image: v3, which kubectl has set      → no: kubectl manages it now
 *   no image, which a webhook takes away  → no: its value is not restored
 *
 * @param judgesAbsent whether a field without a value has none because it was empty before, too
 */
const isReturned = (field: FormerField, judgesAbsent: boolean): boolean =>
  field.restored === undefined ? judgesAbsent && isAbsentAsBefore(field) : isValueBack(field);

/**
 * A field on the way down from the root. `isSame`: the identical former value is restored, and no other client manages a part
 * of it; "above": so it is of a field above it. Then {@link isReturned} need not be asked of what is below, as long as the
 * Transaction manages all of it that the former manager did: it is returned as a whole.
 */
interface Visit {
  readonly field: FormerField;
  readonly isSame: "no" | "here" | "above";
}

const visitBelow = ({ field: parent, isSame }: Visit, element: string): Visit => {
  const field = fieldIn(parent, element);
  if (field.restored !== field.before || field.theirs !== undefined) return { field, isSame: "no" };
  return { field, isSame: isSame === "no" ? "here" : "above" };
};

/** Found out once: at the outermost field that is the same. */
const isReturnedWhole = ({ field: { ours, former }, isSame }: Visit): boolean =>
  isSame === "here" && ours !== undefined && holds(ours, former ?? none);

/** The fields of this entry that its manager gets back, since their former values are restored. */
const returnedTo = (
  entry: ManagedFieldsEntry,
  { before, live, restored, isAsBefore, ours, dropped }: RestoredObject,
  theirs: Fields,
): Fields => {
  const former = entry.fieldsV1 ?? none;
  // Fields without a value in this version are returned only if all others are as before.
  const judgesAbsent = isAsBefore || entry.apiVersion === live.apiVersion;
  const taken = dropped.includes(entry) ? union([ours, former]) : ours;
  const root: Visit = { field: { former, ours: taken, theirs, before, live, restored }, isSame: "no" };
  return filterAlong<Visit>(former, root, {
    into: visitBelow,
    keepsAll: (visit) => judgesAbsent && isReturnedWhole(visit),
    keeps: ({ field }) => isReturned(field, judgesAbsent),
  });
};

/**
 * The managedFields once the change is rolled back: the live entries without that of the Transaction, and the fields that
 * it had taken over returned to their former managers, where their former values are restored.
 *
 * @example the change set `a` to 2, and it is 1 again
 *   before gitops: a     live janus: a              →  gitops: a
 *   before gitops: a, b  live gitops: b, janus: a   →  gitops: a, b
 *   before gitops: a     live hpa: a                →  hpa: a
 */
export const restoredOwnership = (object: RestoredObject): Entries => {
  const formerEntries = entriesOf(object.before);
  const liveEntries = expandAncientChanges(formerEntries, object.others);
  const theirs = fieldsOf(liveEntries);
  const [formerWriters, liveWriters] = [byWriter(formerEntries), byWriter(liveEntries)];
  const kept = liveEntries.map((entry) => {
    const former = formerWriters.get(writerOf(entry));
    if (former === undefined || holds(entry.fieldsV1 ?? none, former.fieldsV1 ?? none)) return entry;
    const fieldsV1 = union([entry.fieldsV1 ?? none, returnedTo(former, object, theirs)]);
    // The entry keeps its own time: by that the next write of the rollback knows that this manager has written since.
    return equal(fieldsV1, entry.fieldsV1) ? entry : { ...entry, fieldsV1 };
  });
  const returning = formerEntries
    .filter((former) => !liveWriters.has(writerOf(former)))
    .flatMap((former) => {
      const fieldsV1 = returnedTo(former, object, theirs);
      if (equal(fieldsV1, former.fieldsV1)) return [former];
      return isWhole(fieldsV1) ? [] : [{ ...former, fieldsV1 }];
    });
  return [...kept, ...returning];
};
