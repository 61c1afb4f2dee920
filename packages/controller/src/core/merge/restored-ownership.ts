import { expandAncientChanges, byWriter, writerOf } from "./ancient-changes.ts";
import { child, type Fields, fieldsOf, filterAlong, holds, isWhole, none, union } from "./field-set.ts";
import { entriesOf } from "./marks.ts";
import { equal, type KubeObject, type ManagedFieldsEntry } from "@janus/types";
import { under } from "./field-value.ts";

type Entries = readonly ManagedFieldsEntry[];

/**
 * What clears managedFields. An empty list is documented not to.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#clearing-managedfields
 */
const NOBODY: Entries = [{}];
export const orNobody = (entries: Entries): Entries => (entries.length === 0 ? NOBODY : entries);

/** An object whose change is taken out of it. */
export interface RestoredObject {
  readonly before: KubeObject;
  readonly live: KubeObject;
  /** What it is to be, without identity and bookkeeping; and whether that is all as before. */
  readonly restored: object;
  readonly isAsBefore: boolean;
  /** What the Transaction owns in the live object, and the entries of all others. */
  readonly ours: Fields;
  readonly others: Entries;
}

/** A field of a former owner: what it owned of it, who owns it in the live object, and its values. */
interface FormerField {
  readonly former: Fields | undefined;
  readonly ours: Fields | undefined;
  readonly theirs: Fields | undefined;
  readonly before: unknown;
  readonly live: unknown;
  readonly restored: unknown;
  /** Whether the very value of before is back, and nobody else owns a part of it: then the same is true of all in it. */
  readonly isBack: boolean;
  /** Whether, besides, we own all of it that the former owner did. It is found out once: at the first that is back. */
  readonly isAllBack: boolean;
}

const into = (parent: FormerField, element: string): FormerField => {
  const { former, ours, theirs, before, live, restored } = parent;
  const read = under(element);
  const was = read(before);
  // Most of it is the very value of before.
  const is = restored === before ? was : read(restored);
  const formerly = child(former, element);
  const own = child(ours, element);
  const others = child(theirs, element);
  const isBack = is === was && others === undefined;
  return {
    former: formerly,
    ours: own,
    theirs: others,
    before: was,
    live: read(live),
    restored: is,
    isBack,
    isAllBack: isBack && !parent.isBack && own !== undefined && holds(own, formerly ?? none),
  };
};

/** Whether the value of before is back, which we had taken from its owner. */
const isValueBack = ({ former, ours, before, live, restored }: FormerField): boolean => {
  const taken = ours !== undefined || live === undefined;
  return taken && (!isWhole(former ?? none) || equal(restored, before));
};

/** Whether a field without a value is: an empty one, or one of another version of the kind, which has no value in this one. */
const isAbsentAsBefore = ({ before, theirs }: FormerField): boolean => before === undefined && theirs === undefined;

/** What the owner of this entry is given back, since its value of before is back. */
const givenBack = (
  entry: ManagedFieldsEntry,
  { before, live, restored, isAsBefore, ours }: RestoredObject,
  theirs: Fields,
): Fields => {
  const former = entry.fieldsV1 ?? none;
  // What has no value in this version can be judged only by all that has one.
  const tellsOfAbsent = isAsBefore || entry.apiVersion === live.apiVersion;
  return filterAlong<FormerField>(
    former,
    { former, ours, theirs, before, live, restored, isBack: false, isAllBack: false },
    {
      into,
      keepsAll: ({ isAllBack }) => isAllBack && tellsOfAbsent,
      keeps: (field) => (field.restored === undefined ? tellsOfAbsent && isAbsentAsBefore(field) : isValueBack(field)),
    },
  );
};

/**
 * Who owns what once our change is taken out: the live entries without ours, and what we took from its former owners given
 * back to them where the value of before is back.
 *
 * @example we set `a` to 2, and it is 1 again
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
    const fieldsV1 = union([entry.fieldsV1 ?? none, givenBack(former, object, theirs)]);
    if (equal(fieldsV1, entry.fieldsV1)) return entry;
    return equal(fieldsV1, former.fieldsV1) ? former : { ...entry, fieldsV1 };
  });
  const returning = formerEntries
    .filter((former) => !liveWriters.has(writerOf(former)))
    .flatMap((former) => {
      const fieldsV1 = givenBack(former, object, theirs);
      if (equal(fieldsV1, former.fieldsV1)) return [former];
      return isWhole(fieldsV1) ? [] : [{ ...former, fieldsV1 }];
    });
  return [...kept, ...returning];
};
