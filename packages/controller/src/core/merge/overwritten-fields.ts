// Finds changes of other clients that a write would overwrite.
import { type Fields, child, fieldsOf, isWhole, type Path, union } from "./field-set.ts";
import { type Located, pathOf } from "./merged-field.ts";
import { elementOf, type ListItems, type ListKind, listItems, listKind } from "./list-element.ts";
import { isInFormerOrder } from "./list-order.ts";
import {
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  member,
  memoizedBy,
} from "@janus/types";
import { desiredState, nulledContent, writable } from "./write-body.ts";
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

/** Found one by one: there may be as many as the object has fields, and a message names a few. */
type Found = Generator<SetField>;

/** A value that is replaced as a whole, or of which it is unknown how it is merged. */
function* overwrittenWhole(field: SetField): Found {
  const isGone = field.wanted === null && field.is === undefined;
  if (!isGone && !equal(field.was, field.is) && !equal(field.wanted, field.is)) yield field;
}

/** Merged with an empty map or list, nothing in it changes; but it is there again if others have removed it. */
function* overwrittenByNothing(field: SetField): Found {
  if (field.was !== undefined && field.is === undefined) yield field;
}

function* overwrittenMembers(field: SetField): Found {
  const [was, is, wanted] = [asObject(field.was), asObject(field.is), asObject(field.wanted)];
  const removed = field.replaces ? Object.keys(was).filter((name) => !Object.hasOwn(wanted, name)) : [];
  const names = [...Object.keys(wanted), ...removed];
  if (names.length === 0) yield* overwrittenByNothing(field);
  for (const name of names) {
    const values = { was: member(was, name), is: member(is, name), wanted: member(wanted, name) };
    yield* overwritten(fieldIn(field, `f:${name}`, values));
  }
}

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The keys of the list that this item has. */
const presentIn = (kind: ListKind, item: Json): ListKind =>
  kind.type === "value"
    ? kind
    : { type: "keys", keys: kind.keys.filter((key) => (member(asObject(item), key) ?? undefined) !== undefined) };

/**
 * Finds the items of the content that may denote an item. One that leaves a key to its default may denote every item that has its
 * other keys, since the default is known to the API server only; except for those that the content names in full.
 *
 * @example in the content, [{port: 80}, {port: 81}, {port: 81, protocol: UDP}] of a list with the keys port and protocol
 *   {port: 80, protocol: UDP}  →  {port: 80}
 *   {port: 81, protocol: TCP}  →  {port: 81}
 *   {port: 81, protocol: UDP}  →  {port: 81, protocol: UDP}
 *   {port: 82, protocol: TCP}  →  none
 */
const denoting = (content: readonly Json[], kind: ListKind): ((item: Json) => readonly Json[]) => {
  const byPattern = memoizedBy(
    (present: ListKind) => JSON.stringify(present),
    (present) => ({ present, items: new Map<string, Json>() }),
  );
  const inFull = byPattern(kind);
  const patterns = new Set([inFull]);
  for (const item of content) {
    const pattern = byPattern(presentIn(kind, item));
    pattern.items.set(elementOf(pattern.present, item), item);
    patterns.add(pattern);
  }
  return (item) => {
    const named = inFull.items.get(elementOf(kind, item));
    return named === undefined
      ? [...patterns].flatMap(({ present, items }) => items.get(elementOf(present, item)) ?? [])
      : [named];
  };
};

/** Whether the items that the content denotes are in another order in it. */
const isInOtherOrder = (
  content: readonly Json[],
  items: ListItems,
  denoted: (item: Json) => readonly Json[],
): boolean => {
  const order = new Map(content.map((item, at) => [item, at]));
  const places = Array.from(items.values(), ({ item }) => denoted(item)[0])
    .filter((item) => item !== undefined)
    .map((item) => order.get(item) ?? 0);
  return places.some((at, index) => at < (places[index - 1] ?? 0));
};

function* overwrittenItems(field: SetField, kind: ListKind): Found {
  const [former, live, content] = [listOf(field.was), listOf(field.is), listOf(field.wanted)];
  if (content.length === 0 && !field.replaces) yield* overwrittenByNothing(field);
  const denoted = denoting(content, kind);
  const [before, now] = [listItems(kind, former), listItems(kind, live)];
  if (!isInFormerOrder(before, now) && isInOtherOrder(content, now, denoted)) yield field;
  for (const [name, { element, item }] of new Map([...before, ...now])) {
    const [was, is] = [before.get(name)?.item, now.get(name)?.item];
    const inContent = denoted(item);
    const isRemoved = inContent.length === 0 && field.replaces && was !== undefined;
    for (const wanted of isRemoved ? [undefined] : inContent) {
      const part = fieldIn(field, element, { was, is, wanted });
      yield* is === undefined ? overwrittenWhole(part) : overwritten(part);
    }
  }
}

const isAbsentOr = (isOfType: (value: Json) => boolean, { was, is, wanted }: SetField): boolean =>
  [was, is, wanted].every((value) => value === undefined || isOfType(value));

function* overwritten(field: SetField): Found {
  const { was, is, managedNow, managedBefore, parent } = field;
  if (was === is) return;
  const managed = managedNow ?? managedBefore;
  const kind = listKind(managed);
  const isMerged = parent === undefined || (managed !== undefined && !isWhole(managed));
  if (isMerged && isAbsentOr(isObject, field)) yield* overwrittenMembers(field);
  else if (isMerged && kind !== undefined && isAbsentOr(Array.isArray, field)) yield* overwrittenItems(field, kind);
  else yield* overwrittenWhole(field);
}

/**
 * The managed fields of an object that show how they are merged in this version of its kind: of all but its metadata, those that
 * clients have written in it. In another version, a map or list may be merged that is replaced as a whole here.
 */
const managedIn = (apiVersion: string, object: KubeObject): Fields => {
  const entries = entriesOf(object);
  const inVersion = fieldsOf(entries.filter((entry) => entry.apiVersion === apiVersion));
  const metadata = child(fieldsOf(entries), "f:metadata");
  return metadata === undefined ? inVersion : union([inVersion, { "f:metadata": metadata }]);
};

/** The most fields that are found: more than any message names. */
const MOST = 100;

/**
 * The fields in which an Update or Patch that is written to the live object would overwrite what other clients have modified since
 * the snapshot. Of many, the first.
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
 *   before [a, b]        live [b, a]        content [a, b]  →  the list: others have re-ordered it
 */
export const overwrittenFields = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  live: KubeObject,
): readonly Path[] => {
  const replaces = change.type === "Update";
  const { apiVersion } = change.target;
  const [was, is]: readonly JsonObject[] = [writable(before, place), writable(live, place)];
  const all = overwritten({
    element: "",
    parent: undefined,
    was,
    is,
    wanted: change.type === "Patch" ? nulledContent(change, place, before) : desiredState(change, place, before),
    managedNow: managedIn(apiVersion, live),
    managedBefore: managedIn(apiVersion, before),
    replaces,
  });
  const paths: Path[] = [];
  for (const field of all) if (paths.push(pathOf(field)) === MOST) break;
  // An Update removes what others have added, too.
  return replaces && paths.length === 0 && !equal(was, is) ? [[]] : paths;
};
