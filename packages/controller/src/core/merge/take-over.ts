import { isApplyManager, type ResolvedChange } from "@janus/api";
import { appliedState } from "./applied-state.ts";
import { type Fields, fieldsOf, isWhole } from "./field-set.ts";
import { fieldsIn, leftOutOf } from "./left-out.ts";
import { withListMapDefaults } from "./list-map-defaults.ts";
import { entriesOf } from "./marks.ts";
import { desiredState, identity, managerOf, marked, markOf, type TransactionRef, writable } from "./write-body.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { asObject, type JsonObject, type KubeObject, type ManagedFieldsEntry } from "@janus/types";

/** As many entries of earlier Applies are left as they are where nothing goes; more would slow down every apply. */
const MOST_EARLIER = 10;

/** What an Apply takes over from earlier ones. */
export interface TakeOver {
  /** The entries of earlier Applies, in whose place comes the one of this Apply. */
  readonly earlier: readonly ManagedFieldsEntry[];
  /** What of them goes; undefined if nothing does. */
  readonly leftOut: Fields | undefined;
}

const partsOf = (change: ResolvedChange, place: ObjectRef, before: KubeObject) => {
  const entries = entriesOf(before);
  const earlier = entries.filter(({ manager = "" }) => isApplyManager(manager));
  const others = entries.filter(({ manager = "" }) => !isApplyManager(manager));
  const [ours, theirs, managed] = [fieldsOf(earlier), fieldsOf(others), fieldsOf(entries)];
  const is = writable(before, place);
  // Metadata itself is no field of anybody.
  const content = (): JsonObject => {
    const wanted = { metadata: {}, ...desiredState(change, place, before) };
    return withListMapDefaults(wanted, [is], { managed, ours, theirs, former: managed });
  };
  return { earlier, others, ours, theirs, managed, is, content };
};

/**
 * What a Patch that its author wrote as an Apply takes over. A server-side apply removes what its own manager has set before, but
 * every Transaction has a manager of its own: so the Apply that leaves something out replaces the object, by a write that
 * says the same.
 *
 * Guarantees: the same answer for the same object, in every process: what the write has made is told by what it was made of.
 * @returns undefined where a server-side apply will do.
 */
export const takeOver = (change: ResolvedChange, place: ObjectRef, before: KubeObject): TakeOver | undefined => {
  if (change.type !== "Patch" || change.isApply !== true) return undefined;
  const { earlier, ours, theirs, is, content } = partsOf(change, place, before);
  if (earlier.length === 0) return undefined;
  const leftOut = leftOutOf({ earlier: ours, theirs, is, wanted: content() });
  return leftOut === undefined && earlier.length < MOST_EARLIER ? undefined : { earlier, leftOut };
};

/** Marks an Apply that has no field in common with the object. */
const APPLIED_MARK = markOf("applied-by");

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
  { leftOut }: TakeOver,
): object => {
  const { others, managed, is, content } = partsOf(change, place, before);
  const wanted = content();
  const body = appliedState(is, wanted, managed, leftOut);
  const owned = fieldsIn(wanted, managed);
  const { uid = "", resourceVersion = "" } = before.metadata;
  return {
    ...(before["status"] === undefined ? {} : { status: before["status"] }),
    ...body,
    apiVersion: change.target.apiVersion,
    kind: change.target.kind,
    metadata: {
      ...asObject(body["metadata"]),
      ...identity(place),
      uid,
      resourceVersion,
      managedFields: marked(
        others,
        managerOf(change, author),
        change.target.apiVersion,
        isWhole(owned) ? APPLIED_MARK : owned,
      ),
    },
  };
};
