// Finds the fields that a Patch removes, and takes over those of earlier Applies.
import { isApplyManager, type ResolvedChange } from "@janus/api";
import { appliedState, unclearList } from "./applied-state.ts";
import { type Fields, fieldsOf, isWhole, none, union } from "./field-set.ts";
import { withDefaultProtocol } from "./default-protocol.ts";
import { fieldsIn, leftOutOf } from "./left-out.ts";
import { itemWithoutKey, withListMapDefaults } from "./list-map-defaults.ts";
import { entriesOf, withoutMarks } from "./marks.ts";
import { nulledFields, withoutNulls } from "./nulls.ts";
import {
  APPLIED_MARK,
  desiredState,
  managerOf,
  marked,
  nulledContent,
  putBody,
  type TransactionRef,
  writable,
} from "./write-body.ts";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { showPath } from "./show-path.ts";
import { type JsonObject, type KubeObject, LAST_APPLIED, type ManagedFieldsEntry } from "@janus/types";
import { lastApplied } from "../kubernetes/last-applied.ts";

/** The most entries of earlier Applies that are left as they are where nothing goes; more would slow down every apply. */
const MOST_EARLIER = 10;

/** The removals of a Patch, which has to be made by a PUT for them. */
export interface TakeOver {
  /** The entries of earlier Applies, in whose place comes the one of this Apply; none for any other Patch. */
  readonly earlier: readonly ManagedFieldsEntry[];
  /** The fields that go; undefined if none does. */
  readonly leftOut: Fields | undefined;
}

const NONE: readonly ManagedFieldsEntry[] = [];

/** The field managers of `kubectl apply`: of a client-side one, and of one with `--server-side`. */
const CLIENT_SIDE = { manager: "kubectl-client-side-apply", operation: "Update" };
const SERVER_SIDE = { manager: "kubectl", operation: "Apply" };

const isOf = (entry: ManagedFieldsEntry, { manager, operation }: typeof CLIENT_SIDE): boolean =>
  entry.manager === manager && entry.operation === operation && (entry.subresource ?? "") === "";

/** Whether it has what an earlier apply of the whole object has set: an Apply of some Transaction, or `kubectl apply`. */
const isOfApply = (entry: ManagedFieldsEntry): boolean =>
  isApplyManager(entry.manager ?? "") || isOf(entry, CLIENT_SIDE) || isOf(entry, SERVER_SIDE);

/** The annotation that a client-side apply compares its next manifest with: it stays. */
const LAST_APPLIED_FIELD: Fields = { "f:metadata": { "f:annotations": { [`f:${LAST_APPLIED}`]: {} } } };

/**
 * The fields that an earlier apply has set. The entry of a client-side one has the defaults of the API server, too: what it was given
 * stands in its annotation.
 */
const appliedBy = (entry: ManagedFieldsEntry, { metadata }: KubeObject): Fields => {
  const fields = entry.fieldsV1 ?? none;
  const given = isOf(entry, CLIENT_SIDE) ? lastApplied(metadata) : undefined;
  return given === undefined ? fields : fieldsIn(withDefaultProtocol(given, fields), fields);
};

/** The managers of the live object, and a content with all keys of its lists. */
const partsOf = (place: ObjectRef, before: KubeObject) => {
  const entries = entriesOf(before);
  const earlier = entries.filter(isOfApply);
  const others = entries.filter((entry) => !isOfApply(entry));
  const ours = withoutMarks(union(earlier.map((entry) => appliedBy(entry, before))));
  const isAnnotated = before.metadata.annotations?.[LAST_APPLIED] !== undefined;
  const theirs = isAnnotated ? union([fieldsOf(others), LAST_APPLIED_FIELD]) : fieldsOf(others);
  const managed = fieldsOf(entries);
  const is = writable(before, place);
  // Metadata itself is no field of anybody.
  const completed = (content: JsonObject): JsonObject =>
    withListMapDefaults(withDefaultProtocol({ metadata: {}, ...content }, managed), [is], {
      managed,
      ours,
      theirs,
      former: managed,
    });
  return { earlier, ours, theirs, managed, is, completed };
};

const removedByNull = (change: ResolvedChange, place: ObjectRef, before: KubeObject): TakeOver | undefined => {
  const written = nulledContent(change, place, before);
  if (withoutNulls(written) === written) return undefined;
  const { managed, is, completed } = partsOf(place, before);
  const leftOut = nulledFields(is, completed(written), managed);
  return leftOut === undefined ? undefined : { earlier: NONE, leftOut };
};

/** Tells what a PUT's result does not show: which item of a list is meant, or how a list is merged. Undefined if all is clear. */
const unclear = (
  place: ObjectRef,
  { is, managed, completed }: ReturnType<typeof partsOf>,
  content: JsonObject,
  leftOut: Fields | undefined,
): string | undefined => {
  const unnamed = itemWithoutKey(withDefaultProtocol(content, managed), managed);
  if (unnamed !== undefined)
    return `an item of ${showPath(unnamed.list)} of ${formatRef(place)} leaves out ${unnamed.key}, by which the items of this list are told apart: write it`;
  const list = unclearList(is, completed(content), managed, leftOut);
  return list === undefined
    ? undefined
    : `nobody manages ${showPath(list)} of ${formatRef(place)}, so that it is unknown how it is merged while something else is removed: apply the rest first, with that list as it was, and then this`;
};

/** Why a Patch that removes something cannot be made as a server-side apply would be; undefined if it can. */
export const unclearMerge = (change: ResolvedChange, place: ObjectRef, before: KubeObject): string | undefined => {
  const leftOut = takeOver(change, place, before)?.leftOut;
  if (leftOut === undefined) return undefined;
  return unclear(place, partsOf(place, before), desiredState(change, place, before), leftOut);
};

/**
 * Finds what a Patch removes: an Apply what earlier ones have set and it leaves out, any other what it sets to null. A
 * server-side apply removes only what its own manager has set before, and every Transaction has a manager of its own: so it is
 * made by a PUT that says the same.
 *
 * Guarantees: the same answer for the same object, in every process: what the write has made is told by what it was made of.
 * @returns undefined where a server-side apply will do.
 */
export const takeOver = (change: ResolvedChange, place: ObjectRef, before: KubeObject): TakeOver | undefined => {
  if (change.type !== "Patch") return undefined;
  if (change.isApply !== true) return removedByNull(change, place, before);
  const parts = partsOf(place, before);
  const { earlier, ours, theirs, is, completed } = parts;
  if (earlier.length === 0) return undefined;
  const content = desiredState(change, place, before);
  const leftOut = leftOutOf({ earlier: ours, theirs, is, wanted: completed(content) });
  const isNoPut = earlier.length < MOST_EARLIER || unclear(place, parts, content, undefined) !== undefined;
  return leftOut === undefined && isNoPut ? undefined : { earlier, leftOut };
};

/** The state of the object after it, and what of that has a manager already. */
const taken = (change: ResolvedChange, place: ObjectRef, before: KubeObject, { leftOut }: TakeOver) => {
  const { managed, is, completed } = partsOf(place, before);
  const content = completed(desiredState(change, place, before));
  return { state: appliedState(is, content, managed, leftOut), owned: fieldsIn(content, managed) };
};

/** The change as the Update that it amounts to, where it removes something; otherwise itself. */
export const asUpdate = (change: ResolvedChange, place: ObjectRef, before: KubeObject): ResolvedChange => {
  const over = takeOver(change, place, before);
  if (over === undefined || change.type !== "Patch") return change;
  const { isApply: _, ...rest } = change;
  return { ...rest, type: "Update", content: taken(change, place, before, over).state };
};

/**
 * The body of the PUT that takes over: the live object without what goes, merged with the content.
 *
 * Guarantees: its entry in managedFields has just the fields of the content, and is the mark of the write; those of others stay.
 */
export const takeOverBody = (
  change: ResolvedChange,
  place: ObjectRef,
  before: KubeObject,
  author: TransactionRef,
  over: TakeOver,
): object => {
  const { state: body, owned } = taken(change, place, before, over);
  const others = entriesOf(before).filter((entry) => !over.earlier.includes(entry));
  const mark = isWhole(owned) ? APPLIED_MARK : owned;
  return putBody(
    change,
    place,
    before,
    body,
    marked(others, managerOf(change, author), change.target.apiVersion, mark),
  );
};
