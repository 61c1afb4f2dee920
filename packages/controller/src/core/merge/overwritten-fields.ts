import { type Fields, child, fieldsOf, isWhole, type Path } from "./field-set.ts";
import { type Located, pathOf } from "./merged-field.ts";
import { elementOf, type ListItem, type ListKind, listItems, listKind } from "./list-element.ts";
import { asObject, equal, isObject, type Json, type JsonObject, type KubeObject, member } from "@janus/types";
import { memoizedBy } from "../kubernetes/memoize.ts";
import { desiredState, writable } from "./write-body.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { ResolvedChange } from "@janus/api";
import { entriesOf } from "./marks.ts";

/** One field that the change sets: its value in the snapshot, its live value, and the one that it would get. */
interface SetField extends Located {
  readonly was: Json | undefined;
  readonly is: Json | undefined;
  readonly wanted: Json | undefined;
  /** Its managed fields, now and in the snapshot: they show whether it is merged, or replaced as a whole. */
  readonly managedNow: Fields | undefined;
  readonly managedBefore: Fields | undefined;
  /** Whether the change also removes what its content leaves out. */
  readonly replaces: boolean;
}

const fieldIn = (
  parent: SetField,
  element: string,
  { was, is, wanted }: Pick<SetField, "was" | "is" | "wanted">,
): SetField => ({
  element,
  parent,
  was,
  is,
  wanted,
  managedNow: child(parent.managedNow, element),
  managedBefore: child(parent.managedBefore, element),
  replaces: parent.replaces,
});

/** A value that is replaced as a whole, or of which it is unknown how it is merged. */
const overwrittenWhole = (field: SetField): readonly Path[] =>
  equal(field.was, field.is) || equal(field.wanted, field.is) ? [] : [pathOf(field)];

/** Merged with an empty map or list, nothing in it changes; but it is there again if others have removed it. */
const overwrittenByNothing = (field: SetField): readonly Path[] =>
  field.was !== undefined && field.is === undefined ? [pathOf(field)] : [];

const overwrittenMembers = (field: SetField): readonly Path[] => {
  const [was, is, wanted] = [asObject(field.was), asObject(field.is), asObject(field.wanted)];
  const removed = field.replaces ? Object.keys(was).filter((name) => !Object.hasOwn(wanted, name)) : [];
  const names = [...Object.keys(wanted), ...removed];
  if (names.length === 0) return overwrittenByNothing(field);
  return names.flatMap((name) =>
    overwritten(
      fieldIn(field, `f:${name}`, { was: member(was, name), is: member(is, name), wanted: member(wanted, name) }),
    ),
  );
};

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The keys of the list that this item has. */
const presentIn = (kind: ListKind, item: Json): ListKind =>
  kind.type === "value"
    ? kind
    : { type: "keys", keys: kind.keys.filter((key) => (member(asObject(item), key) ?? undefined) !== undefined) };

/**
 * Finds the item of the content that may denote an item. One that leaves a key to its default may denote every item that has its
 * other keys, since the default is known to the API server only.
 *
 * @example in the content, [{port: 80}] of a list with the keys port and protocol
 *   {port: 80, protocol: TCP}  →  {port: 80}
 *   {port: 80, protocol: UDP}  →  {port: 80}
 *   {port: 81, protocol: TCP}  →  undefined
 */
const denoting = (content: readonly Json[], kind: ListKind): ((item: Json) => Json | undefined) => {
  const byPattern = memoizedBy(
    (present: ListKind) => JSON.stringify(present),
    (present) => ({ present, items: new Map<string, Json>() }),
  );
  const patterns = new Set(
    content.map((item) => {
      const pattern = byPattern(presentIn(kind, item));
      pattern.items.set(elementOf(pattern.present, item), item);
      return pattern;
    }),
  );
  return (item) => {
    for (const { present, items } of patterns) {
      const found = items.get(elementOf(present, item));
      if (found !== undefined) return found;
    }
    return undefined;
  };
};

const overwrittenItems = (field: SetField, kind: ListKind): readonly Path[] => {
  const [former, live, content] = [listOf(field.was), listOf(field.is), listOf(field.wanted)];
  if (content.length === 0 && !field.replaces) return overwrittenByNothing(field);
  const inContent = denoting(content, kind);
  const [byNameThen, byNameNow] = [listItems(kind, former), listItems(kind, live)];
  const added = [...byNameNow].filter(([name]) => !byNameThen.has(name));
  return [...byNameThen, ...added].flatMap(([name, { element, item }]: readonly [string, ListItem]) => {
    const [was, is] = [byNameThen.get(name)?.item, byNameNow.get(name)?.item];
    const wanted = inContent(item);
    if (wanted === undefined && !(field.replaces && was !== undefined)) return [];
    const part = fieldIn(field, element, { was, is, wanted });
    return is === undefined ? overwrittenWhole(part) : overwritten(part);
  });
};

const isAbsentOr = (isOfType: (value: Json) => boolean, { was, is, wanted }: SetField): boolean =>
  [was, is, wanted].every((value) => value === undefined || isOfType(value));

const overwritten = (field: SetField): readonly Path[] => {
  const { was, is, managedNow, managedBefore, parent } = field;
  if (was === is) return [];
  const managed = managedNow ?? managedBefore;
  const isMerged = parent === undefined || (managed !== undefined && !isWhole(managed));
  if (!isMerged) return overwrittenWhole(field);
  if (isAbsentOr(isObject, field)) return overwrittenMembers(field);
  const kind = listKind(managed);
  return kind !== undefined && isAbsentOr(Array.isArray, field)
    ? overwrittenItems(field, kind)
    : overwrittenWhole(field);
};

/**
 * The fields in which an Update or Patch that is written to the live object would overwrite what other clients have modified since
 * the snapshot.
 *
 * Guarantees: if there is none, writing it to the live object gives every field that differs from the snapshot the value
 *             that it has. A field that the content does not set is none of them, except for those that an Update removes.
 *             Where it is unknown how a value is merged, it counts as replaced as a whole.
 * Assumes:    the change was not applied to `live`, which is the same object (uid).
 *
 * @example a Patch
 *   before {a: 1}        live {a: 3}        content {a: 1}  →  a
 *   before {a: 1}        live {}            content {a: 1}  →  a
 *   before {a: 1}        live {a: 3}        content {a: 3}  →  none: it has that value already
 *   before {a: 1, b: 1}  live {a: 1, b: 3}  content {a: 2}  →  none
 */
export const overwrittenFields = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  live: KubeObject,
): readonly Path[] => {
  const replaces = change.type === "Update";
  const [was, is]: readonly JsonObject[] = [writable(before, place), writable(live, place)];
  const found = overwritten({
    element: "",
    parent: undefined,
    was,
    is,
    wanted: desiredState(change, place, before),
    managedNow: fieldsOf(entriesOf(live)),
    managedBefore: fieldsOf(entriesOf(before)),
    replaces,
  });
  // An Update removes what others have added, too.
  return replaces && found.length === 0 && !equal(was, is) ? [[]] : found;
};
