// Finds fields of a change that other clients have reverted since.
import type { ResolvedChange } from "@janus/api";
import {
  asObject,
  equal,
  isEmpty,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
  member,
  without,
} from "@janus/types";
import { controlledFields } from "../kubernetes/controlled-fields.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { ANCIENT_CHANGES } from "./ancient-changes.ts";
import { writtenSince } from "./field-managers.ts";
import { child, type Fields, fieldsOf, isWhole, nodeAt, none, type Path } from "./field-set.ts";
import { elementOf, listItems, type ListKind, listKind } from "./list-element.ts";
import { entriesOf, isOurs } from "./marks.ts";
import { type Located, pathOf } from "./merged-field.ts";
import { nulledFields } from "./nulls.ts";
import { contentOf, nulledContent, type TransactionRef, writable } from "./write-body.ts";

/** A field, its value before an Update, the one that the change has given it, and its live one. */
interface Values {
  /** Undefined also where what the content leaves out stays: then nothing was removed. */
  readonly was: Json | undefined;
  readonly wanted: Json | undefined;
  readonly is: Json | undefined;
}

/** One field that the change has set or removed, and who manages it, or a part of it. */
interface SetField extends Located, Values {
  readonly parent: SetField | undefined;
  /** The part of it that the Transaction still manages. */
  readonly ours: Fields | undefined;
  /** The part of it that others manage, by what they have written since the change. */
  readonly theirs: Fields | undefined;
  /** All its managed fields: they show how lists are merged. */
  readonly managed: Fields | undefined;
}

const fieldIn = (parent: SetField, element: string, values: Values): SetField => ({
  ...values,
  element,
  parent,
  ours: child(parent.ours, element),
  theirs: child(parent.theirs, element),
  managed: child(parent.managed, element),
});

/** Found one by one: there may be as many as the object has fields, and a message names a few. */
type Found = Generator<SetField>;

/** Whether the API server leaves this value out, or gives it a value of its own. */
const isNothing = (value: Json | undefined): boolean =>
  isEmpty(value) || value === false || value === 0 || value === "";

/** It has another value, which others have set, or is gone. */
function* revertedWhole(field: SetField): Found {
  const { wanted, is, ours, theirs } = field;
  if (ours !== undefined || equal(wanted, is)) return;
  if (theirs !== undefined || (is === undefined && !isNothing(wanted))) yield field;
}

function* revertedMembers(field: SetField): Found {
  const [was, wanted, is] = [asObject(field.was), asObject(field.wanted), asObject(field.is)];
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(was)])) {
    const values = { was: member(was, name), wanted: member(wanted, name), is: member(is, name) };
    yield* reverted(fieldIn(field, `f:${name}`, values));
  }
}

/** Whether the live item has these values of the keys; those that the content leaves out have a default. */
const isLike =
  (kind: ListKind, wanted: Json) =>
  (item: Json): boolean =>
    kind.type === "keys" &&
    kind.keys.every((key) => {
      const value = member(asObject(wanted), key);
      return value === undefined || equal(value, member(asObject(item), key));
    });

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

function* revertedItems(field: SetField, kind: ListKind): Found {
  const [was, content, live] = [listOf(field.was), listOf(field.wanted), listOf(field.is)];
  const byElement = listItems(kind, live);
  const likeContent = content.map((wanted) => isLike(kind, wanted));
  for (const wanted of content) {
    const is = byElement.get(elementOf(kind, wanted))?.item ?? live.find(isLike(kind, wanted));
    yield* reverted(fieldIn(field, elementOf(kind, is ?? wanted), { was: undefined, wanted, is }));
  }
  for (const [element, { item }] of listItems(kind, was))
    if (!likeContent.some((isIn) => isIn(item)))
      yield* reverted(fieldIn(field, element, { was: item, wanted: undefined, is: byElement.get(element)?.item }));
}

/** The field, if others have set it again after the change has removed it. */
function* setAgain(field: SetField): Found {
  if (field.was !== undefined && field.is !== undefined && field.theirs !== undefined) yield field;
}

const isAbsentOr = (isOfType: (value: Json) => boolean, { was, wanted, is }: SetField): boolean =>
  [was, wanted, is].every((value) => value === undefined || isOfType(value));

function* reverted(field: SetField): Found {
  const { wanted, is, ours, managed, parent } = field;
  const isOurs = parent !== undefined && ours !== undefined && isWhole(ours);
  // A null of a Patch sets nothing, nor does an empty map or list, which others may fill: of an aggregated ClusterRole, its rules.
  if (wanted === is || wanted === null || isOurs || (wanted !== undefined && isEmpty(wanted))) return;
  const isMerged = parent === undefined || (managed !== undefined && !isWhole(managed));
  const kind = listKind(managed);
  if (wanted === undefined) yield* setAgain(field);
  else if (isMerged && isAbsentOr(isObject, field)) yield* revertedMembers(field);
  else if (isMerged && kind !== undefined && isAbsentOr(Array.isArray, field)) yield* revertedItems(field, kind);
  else yield* revertedWhole(field);
}

const leaves = (node: Fields, path: Path = []): readonly Path[] => {
  const names = Object.keys(node).filter((name) => name !== ".");
  return names.length === 0 ? [path] : names.flatMap((name) => leaves(child(node, name) ?? none, [...path, name]));
};

/**
 * The fields that a Patch has removed with null, and that managers have who have written since. A default that the API server has
 * put in their place stays with the manager that had the same value before.
 */
const removedAgainst = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  live: KubeObject,
  others: readonly ManagedFieldsEntry[],
): readonly Path[] => {
  const managed = fieldsOf(entriesOf(live));
  const nulled = nulledFields(settable(live, place), nulledContent(change, place, live), managed);
  if (nulled === undefined) return [];
  const since = fieldsOf(writtenSince(entriesOf(before), others));
  return leaves(nulled).filter((path) => nodeAt(since, path) !== undefined);
};

/** The part of an object that a change can set; the status is for others. */
const settable = (object: KubeObject | JsonObject, place: ObjectRef): JsonObject =>
  without(writable(object, place), ["status"]);

/** The most fields that are found: more than any message names. */
const MOST = 100;

/**
 * The fields that a change has set, and others have changed or removed since. Of many, the first.
 *
 * A field is as it was set while it is in our entry of managedFields: the API server takes it out as soon as another client
 * changes it; so values need not be compared that the server or admission writes in a form of their own. What is changed through a
 * subresource, such as `scale` by an autoscaler or `kubectl scale`, counts as running the object, not as reverting it.
 *
 * Guarantees: none of a field that has the value of the content, whoever manages it.
 * Assumes:    the change was applied to `live`, which is the same object (uid). For an Update, and a Patch with null, `before` is its snapshot: of fields
 *             that it has set to the value that they had, their managers show by the time of their entry that they wrote since; two
 *             writes within a second look like one. None where managedFields was cleared: nothing tells.
 *
 * @example a Patch of the image to v2
 *   image: v2, ours                            →  none
 *   image: v1, of gitops                       →  the image
 *   image: v2, of gitops                       →  none
 *   replicas: 5 instead of 3, of scale         →  none
 */
export const revertedFields = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject | undefined,
  live: KubeObject,
  author: TransactionRef,
): readonly Path[] => {
  if (change.type === "Delete") return [];
  const entries = entriesOf(live);
  if (entries.length === 0) return [];
  const replaced = change.type === "Update" ? before : undefined;
  const others = entries.filter((entry) => !isOurs(entry, author.uid));
  const writers = replaced === undefined ? others : writtenSince(entriesOf(replaced), others);
  const isPatch = change.type === "Patch" && change.isApply !== true;
  const controlled = controlledFields(place.resource, contentOf(change), isPatch ? live : undefined);
  const editors = writers.filter(({ subresource = "", manager }) => subresource === "" && manager !== ANCIENT_CHANGES);
  const all = reverted({
    element: "",
    parent: undefined,
    // What the content leaves out of the metadata stays.
    was: replaced === undefined ? undefined : without(settable(replaced, place), ["metadata", ...controlled]),
    wanted: without(settable(contentOf(change), place), controlled),
    is: settable(live, place),
    ours: fieldsOf(entries.filter((entry) => isOurs(entry, author.uid))),
    theirs: fieldsOf(editors),
    managed: fieldsOf(entries),
  });
  const paths = isPatch && before !== undefined ? [...removedAgainst(change, place, before, live, editors)] : [];
  for (const field of all) if (paths.push(pathOf(field)) >= MOST) break;
  return paths.slice(0, MOST);
};
