// Merges the live object with its snapshot, so that only the fields of the change are restored.
import { type Fields, isWhole, none, type Path } from "./field-set.ts";
import { under } from "./field-value.ts";
import { type ChangeMade, fieldOf, type MergedField, type MergedPart, pathOf } from "./merged-field.ts";
import { itemLike, type ListKind, listItems, listKind } from "./list-element.ts";
import { mergedOrder } from "./list-order.ts";
import { asObject, equal, isEmpty, isObject, type Json, type JsonObject, member, memoized } from "@janus/types";
import { verdict } from "./merge-rules.ts";

/** Field ownership, and the intent of the change. */
export interface FieldOwnership extends ChangeMade {
  /** Fields that the Transaction owns in the live object. */
  readonly ours: Fields;
  /** Fields that other clients own in the live object. */
  readonly theirs: Fields;
  /** Fields of other clients whose managers have written since the change. */
  readonly since: Fields;
  /** Fields of managers that may have written since the change. */
  readonly possiblyNewer: Fields;
  /** Fields that had a manager before the change. */
  readonly former: Fields;
  /** Every field that has or had a manager: they show how lists are merged. */
  readonly managed: Fields;
  /** The content of the change. */
  readonly content: JsonObject;
  /** Fields that the change removed; the empty set: whatever its content leaves out. */
  readonly removed: Fields | undefined;
}

export interface Merged {
  readonly value: JsonObject;
  /** Fields that the change set and another client has taken over. They keep their live value. Of many, the first. */
  readonly conflicts: readonly Path[];
  /** Fields that are not as before, although no client manages them, and none did. They keep their live value. Of many, the first. */
  readonly unclaimed: readonly Path[];
}

/** The most of them that are kept: more than any message names. There may be as many as the object has fields. */
const MOST_NAMED = 100;

/** A field after the merge; without a value, it is not there. */
interface MergedValue {
  readonly value: Json | undefined;
  readonly named: NamedFields;
}

/** The fields that are named to the user. */
type NamedFields = Readonly<Record<"conflicts" | "unclaimed", readonly MergedField[]>>;

const NONE: readonly MergedField[] = [];
const NOTHING: NamedFields = { conflicts: NONE, unclaimed: NONE };

const silent = (value: Json | undefined): MergedValue => ({ value, named: NOTHING });

const inConflict = (field: MergedField): MergedValue => ({
  value: field.is,
  named: { ...NOTHING, conflicts: [field] },
});

const allOf = (parts: readonly NamedFields[], type: keyof NamedFields): readonly MergedField[] => {
  const some = parts.filter((part) => part[type].length > 0).slice(0, MOST_NAMED);
  return some.length === 0 ? NONE : some.flatMap((part) => part[type]).slice(0, MOST_NAMED);
};

/** The fields to report among the parts of a field. A field that did not exist before is reported as a whole. */
const namedIn = (field: MergedField, parts: readonly MergedValue[]): NamedFields => {
  const some = parts.flatMap(({ named }) => (named === NOTHING ? [] : [named]));
  if (some.length === 0) return NOTHING;
  const unclaimed = allOf(some, "unclaimed");
  const isNew = unclaimed.length > 0 && field.was === undefined && field.theirs === undefined;
  return { conflicts: allOf(some, "conflicts"), unclaimed: isNew ? [field] : unclaimed };
};

const mergeWhole = (field: MergedField): MergedValue => {
  switch (verdict(field)) {
    case "before":
      return silent(field.was);
    case "live":
      return silent(field.is);
    case "conflict":
      return inConflict(field);
    case "unclaimed":
      return { value: field.is, named: { ...NOTHING, unclaimed: [field] } };
  }
};

/** An object or list that became empty by the merge is left out if it did not exist before, or does not exist now. */
const isMergedAway = (isEmpty: boolean, { was, is }: MergedField): boolean =>
  isEmpty && (was === undefined || is === undefined);

const namesIn = (was: JsonObject, is: JsonObject): readonly string[] => [
  ...Object.keys(is),
  ...Object.keys(was).filter((name) => !Object.hasOwn(is, name)),
];

/**
 * Whether it is of a part of the object in which the change has set nothing, and others have set or let go of something since: what
 * differs there without a manager is a consequence of that. But a change may well have consequences in other metadata.
 */
const isBesideChange = ({ parent, element, ours, theirs, wanted, since, former, removed }: MergedField): boolean =>
  parent?.parent === undefined &&
  element !== "f:metadata" &&
  ours === undefined &&
  wanted === undefined &&
  removed === undefined &&
  (since !== undefined || !equal(theirs, former));

/** Whether others have set or removed a field right in it, and the change none, as where they have chosen another type of a union. */
const isChosenByOthers = memoized(
  ({ ours, theirs, was, is }: MergedField): boolean =>
    ours === undefined &&
    Object.keys(theirs ?? none).some((element) => {
      const [one, other] = [under(element)(was), under(element)(is)];
      const isInside = [one, other].every((value) => typeof value === "object" && value !== null);
      return element !== "." && one !== other && !isInside;
    }),
);

const isNothing = (value: unknown): boolean =>
  isEmpty(value) || (isObject(value) && Object.values(value).every(isNothing));

/** Whether others have removed all of it, although the content of the change has something in it. */
const isRemovedByOthers = ({ is, wanted, ours, theirs }: MergedField): boolean =>
  is === undefined && ours === undefined && theirs === undefined && !isNothing(wanted);

/** Whether it is without a part that it had before, as where it is of another type of a union. */
const lacksPart = (was: JsonObject, is: JsonObject): boolean =>
  Object.entries(was).some(([name, part]) => isObject(part) && member(is, name) === undefined);

/** Whether an Update has removed it, and others have set it again: an item, or an object of another type of a union. */
const isSetAgain = (field: MergedField): boolean => {
  const { removed, element, was, is, wanted, ours, theirs } = field;
  if (removed === undefined || !isWhole(removed) || wanted !== undefined || ours !== undefined || theirs === undefined)
    return false;
  if (!isObject(was) || !isObject(is)) return false;
  return element.startsWith("k:") || (lacksPart(was, is) && isChosenByOthers(field));
};

/**
 * Whether others have a part of what the change has added or made of another type of a union, and the API server has rejected what
 * remains of it without the rest.
 */
const isRejectedInPart = ({ change, element, was, is, theirs }: MergedField): boolean => {
  if (!change.yieldsToOthers || theirs === undefined || !isObject(is)) return false;
  if (!isObject(was)) return element.startsWith("k:");
  const isNew = (name: string): boolean => isObject(member(is, name)) && member(was, name) === undefined;
  return lacksPart(was, is) && Object.keys(theirs).some((part) => part.startsWith("f:") && isNew(part.slice(2)));
};

/** Leaves to others all of what they have set again: no former value gets into it. */
const unlessTheirs = (field: MergedField, merged: MergedValue): MergedValue =>
  merged.value !== field.is && (isSetAgain(field) || isRejectedInPart(field)) ? inConflict(field) : merged;

/** @param isParentRemoved whether others have removed all of the object that it is in */
const mergeMember = (parent: MergedField, isParentRemoved: boolean, part: MergedPart): MergedValue => {
  const { was, is } = part;
  if (equal(was, is)) return silent(is);
  const seen = fieldOf(parent, part);
  // What differs there, and nobody manages, stays and is named: it may also be what admission has made of the change.
  const field = isBesideChange(seen)
    ? { ...seen, change: { ...seen.change, isBlind: true, yieldsToOthers: true } }
    : seen;
  // A field that never had a manager was not removed by itself, but along with something else.
  const isGoneAlong = is === undefined && field.managed === undefined;
  if (isGoneAlong && isParentRemoved) return silent(is);
  // As a consequence of the change, like a port of a Service; or of what others have changed, like its type.
  if (isGoneAlong && parent.is !== undefined && !isChosenByOthers(parent))
    return parent.change.yieldsToOthers ? { value: undefined, named: { ...NOTHING, unclaimed: [field] } } : silent(was);
  return mergeField(field);
};

const mergeObjects = (field: MergedField): MergedValue => {
  const [was, is] = [asObject(field.was), asObject(field.is)];
  const wanted = asObject(field.wanted);
  const names = namesIn(was, is);
  const isRemoved = isRemovedByOthers(field);
  const parts = names.map((name) =>
    mergeMember(field, isRemoved, {
      element: `f:${name}`,
      was: member(was, name),
      is: member(is, name),
      wanted: member(wanted, name),
    }),
  );
  const named = namedIn(field, parts);
  if (
    isMergedAway(
      parts.every(({ value }) => value === undefined),
      field,
    )
  )
    return { value: undefined, named };
  // The former or live object itself if nothing in it differs, so that it need not be compared again.
  const isJust = (object: JsonObject): boolean =>
    names.every((name, index) => parts[index]?.value === member(object, name));
  if (isJust(was)) return { value: was, named };
  if (isJust(is)) return { value: is, named };
  const members = names.flatMap((name, index) => {
    const value = parts[index]?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  return { value: Object.fromEntries(members), named };
};

/** An item that stays, if only for what others have in it, stays under its keys. */
const underKeys = (value: Json | undefined, keys: readonly string[], item: Json | undefined): Json | undefined => {
  if (!isObject(value) || keys.every((key) => Object.hasOwn(value, key))) return value;
  const present = keys.flatMap((key) => {
    const own = member(asObject(item), key);
    return own === undefined ? [] : [[key, own] as const];
  });
  return { ...Object.fromEntries(present), ...value };
};

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The items of the former and of the live list, in the order after the merge. */
const itemsIn = ({ was, is, wanted }: MergedField, kind: ListKind) => {
  const [former, live, content] = [listOf(was), listOf(is), listOf(wanted)];
  const [before, now] = [listItems(kind, former), listItems(kind, live)];
  const { names, isConflict } = mergedOrder(before, now, listItems(kind, content));
  const inContent = itemLike(content, kind);
  const items = names.flatMap((name): readonly MergedPart[] => {
    const [was, is] = [before.get(name), now.get(name)];
    const some = was ?? is;
    return some === undefined ? [] : [{ element: some.element, was: was?.item, is: is?.item, wanted: inContent(some) }];
  });
  return { items, isConflict };
};

const mergeLists = (field: MergedField, kind: ListKind): MergedValue => {
  const [was, is] = [listOf(field.was), listOf(field.is)];
  const keys = kind.type === "keys" ? kind.keys : [];
  const { items, isConflict } = itemsIn(field, kind);
  const parts = items.map((item): MergedValue => {
    if (equal(item.was, item.is)) return silent(item.is);
    const part = fieldOf(field, item, keys);
    const { value, named } = mergeField(part);
    // An item that others have removed stays removed, even if an Update has taken something out of it: without the rest, that is none.
    if (isRemovedByOthers(part)) return { value: undefined, named };
    return { value: underKeys(value, keys, item.is ?? item.was), named };
  });
  const named = namedIn(field, isConflict ? [inConflict(field), ...parts] : parts);
  const merged = parts.flatMap(({ value }) => (value === undefined ? [] : [value]));
  if (isMergedAway(merged.length === 0, field)) return { value: undefined, named };
  const isJust = (list: readonly Json[]): boolean =>
    merged.length === list.length && merged.every((item, index) => item === list[index]);
  return { value: isJust(was) ? was : isJust(is) ? is : merged, named };
};

const isAbsentOr = (isOfType: (value: Json) => boolean, { was, is }: MergedField): boolean =>
  (was === undefined || isOfType(was)) && (is === undefined || isOfType(is));

/**
 * Whether it is merged field by field. Where nothing shows which fields a Patch has set, a map counts as merged, unless its
 * managers have it as a whole: then it is replaced as a whole, and no former value may get into that of others.
 */
const isMerged = ({ was, is, theirs, managed, change }: MergedField): boolean => {
  if (managed !== undefined && !isWhole(managed)) return true;
  const isReplaced = managed !== undefined && (theirs !== undefined || !isEmpty(was));
  const isNewAndEmpty = was === undefined && isEmpty(is);
  return change.isBlind && isObject(is) && !isNewAndEmpty && !isReplaced;
};

/** Merges a field that is not what it was. */
const mergeField = (field: MergedField): MergedValue => {
  const { was, theirs, managed, change } = field;
  // A value without fields of other clients is reverted as a whole, with the defaults that have no manager.
  if (!isMerged(field) || (was === undefined && theirs === undefined && !change.isBlind)) return mergeWhole(field);
  if (isAbsentOr(isObject, field)) return unlessTheirs(field, mergeObjects(field));
  const kind = listKind(managed);
  return kind !== undefined && isAbsentOr(Array.isArray, field) ? mergeLists(field, kind) : mergeWhole(field);
};

/**
 * Rolls the change back in the live object, field by field: a three-way merge of the snapshot, the change and the live object.
 *
 * Guarantees: a field that only the Transaction manages, or that has no manager, gets its former value; a field of another manager
 *             keeps its live value, and is a conflict if the change had set it to something else. If managedFields was cleared, a
 *             field that is not in the content keeps its live value, too, and so does one that no longer has the value of the
 *             change.
 * Assumes:    `before` and `live` hold only what a write can change (no status where that is a subresource, no uid …).
 *
 * @example the resulting `data`; the change set `a` to 2
 *   before {a: 1}        live {a: 2}         we own a                   →  {a: 1}
 *   before {}            live {a: 2}         we own a                   →  {}
 *   before {a: 1, b: 1}  live {a: 2, b: 5}   we own a, others b         →  {a: 1, b: 5}
 *   before {a: 1}        live {a: 3}         others own a               →  {a: 3}, and a conflict
 *   before {a: 1}        live {}             a has no manager, others did → {}, and a conflict
 */
export const threeWayMerge = (before: JsonObject, live: JsonObject, ownership: FieldOwnership): Merged => {
  const { ours, theirs, since, possiblyNewer, former, managed, content, removed, ...change } = ownership;
  const { value, named } = mergeObjects({
    change,
    element: "",
    parent: undefined,
    isOfOwners: false,
    keys: [],
    was: before,
    is: live,
    wanted: content,
    removed,
    ours,
    theirs,
    since,
    possiblyNewer,
    former,
    managed,
  });
  return {
    value: asObject(value ?? none),
    conflicts: named.conflicts.map(pathOf),
    unclaimed: named.unclaimed.map(pathOf),
  };
};
