import { equal, isEmpty } from "@janus/types";
import { type MergedField, pathOf } from "./merged-field.ts";

/** What becomes of a field: its value of before, or the live one, which is a conflict where the change had set another. */
export type MergeVerdict = "before" | "live" | "conflict";

type Test = (field: MergedField) => boolean;

/** Whether the change meant the field to have another value than before. */
const isChanged: Test = ({ wanted, was, change }) =>
  wanted === undefined ? change.replaces && was !== undefined : !equal(wanted, was);

const isGone: Test = ({ is }) => is === undefined;

/** A field that a client removes has no manager any more. One that is managed but absent was dropped by the API server. */
const isLeftOut: Test = ({ is, ours, theirs, since }) =>
  is === undefined && (ours ?? theirs) !== undefined && since === undefined;

const isGoneWithoutChange: Test = (field) => isGone(field) && !isChanged(field);

const isReplacedByNothing: Test = ({ is, wanted, since, change }) =>
  is === undefined && change.replaces && isEmpty(wanted) && since === undefined;

const isOwnerReference: Test = (field) => {
  const [first, second] = pathOf(field);
  return first === "f:metadata" && second === "f:ownerReferences";
};

/** Whether nothing says that the change has set it. Owners are another matter: the Transaction may have deleted them. */
const isUnclaimed: Test = (field) =>
  field.theirs === undefined &&
  field.change.isBlind &&
  field.ours === undefined &&
  field.wanted === undefined &&
  !isOwnerReference(field);

/** Whether the change set it, but it is neither ours any more nor has the value. */
const isTakenElsewhere: Test = ({ ours, theirs, wanted, was, is }) =>
  theirs === undefined && ours === undefined && wanted !== undefined && !equal(wanted, was) && !equal(wanted, is);

/** A default of what others have added since, or have a part in: an applied field has a manager, its defaults have none. */
const isDefaultOfTheirs: Test = ({ was, wanted, ours, theirs, parent }) =>
  [was, wanted, ours, theirs].every((value) => value === undefined) &&
  parent !== undefined &&
  parent.was === undefined &&
  parent.theirs !== undefined;

const hasNoOtherOwner: Test = ({ theirs }) => theirs === undefined;

const isKeyOfItem: Test = ({ parent, element }) => parent?.keys.some((key) => element === `f:${key}`) === true;

const isNulledByChange: Test = ({ is, wanted, ours, since }) =>
  is === null && wanted === null && ours === undefined && since === undefined;

const isSetByChange: Test = (field) => field.ours !== undefined || isChanged(field);

/** The first that holds decides. */
const RULES: readonly (readonly [holds: Test, verdict: MergeVerdict])[] = [
  // It goes with what the change made of the object, and comes back with what was there before.
  [isLeftOut, "before"],
  // Another client took it out, and the change had nothing to do with it.
  [isGoneWithoutChange, "live"],
  // The change took it out.
  [isReplacedByNothing, "before"],
  // Another client took out what the change had set.
  [isGone, "conflict"],
  // It never had a manager.
  [isUnclaimed, "live"],
  // Somebody took it over in another version of the kind, in which it is called otherwise.
  [isTakenElsewhere, "conflict"],
  // Without it, what others have added would be another thing, or get it again.
  [isDefaultOfTheirs, "live"],
  // It is ours alone, or has no manager, such as a default that belongs to a field of the change.
  [hasNoOtherOwner, "before"],
  // It comes and goes with its item.
  [isKeyOfItem, "live"],
  // The change set it to null, which has no manager: the former manager keeps the bare field.
  [isNulledByChange, "before"],
  // Somebody took over what the change has set.
  [isSetByChange, "conflict"],
];

/** Who has the say over a field that is merged as a whole. What no rule is about is another client's, and stays. */
export const verdict = (field: MergedField): MergeVerdict => RULES.find((rule) => rule[0](field))?.[1] ?? "live";
