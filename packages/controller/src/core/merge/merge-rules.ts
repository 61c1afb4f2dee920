// The rules by which a rollback restores a field or keeps its live value.
import { equal, isEmpty } from "@janus/types";
import { isWhole } from "./field-set.ts";
import type { MergedField } from "./merged-field.ts";

/**
 * The verdict of a rollback about a field: it restores the former value, or keeps the live one: of other clients, with or without
 * a conflict; or nobody's, as those that admission sets, which is unclaimed.
 */
export type MergeVerdict = "before" | "live" | "conflict" | "unclaimed";

type Test = (field: MergedField) => boolean;

/** Whether the change was to remove all of the field. */
const isToGo: Test = ({ removed }) => removed !== undefined && isWhole(removed);

/** Whether the change was to give the field another value. */
const isChanged: Test = (field) =>
  field.wanted === undefined ? isToGo(field) && field.was !== undefined : !equal(field.wanted, field.was);

const isGone: Test = ({ is }) => is === undefined;

/** A field that a client removes has no manager any more. One that is managed but absent was dropped by the API server. */
const isLeftOut: Test = ({ is, ours, theirs, since }) =>
  is === undefined && (ours ?? theirs) !== undefined && since === undefined;

const isGoneWithoutChange: Test = (field) => isGone(field) && !isChanged(field);

const isReplacedByNothing: Test = ({ is, wanted, since, removed, change }) => {
  const isByChange = removed !== undefined || (change.isByPut && wanted !== undefined);
  return is === undefined && isByChange && isEmpty(wanted) && since === undefined;
};

/** Whether nothing shows that the change has set it. Except for owner references: the Transaction may have deleted the owners. */
const isUnclaimed: Test = (field) =>
  field.theirs === undefined &&
  field.change.isBlind &&
  field.ours === undefined &&
  field.wanted === undefined &&
  !field.isOfOwners;

/** Whether the change set it, but the Transaction no longer manages it, and it has another value. */
const isTakenElsewhere: Test = ({ ours, theirs, wanted, was, is }) =>
  theirs === undefined && ours === undefined && wanted !== undefined && !equal(wanted, was) && !equal(wanted, is);

/** Whether it is the metadata of the object: every object has it, whoever manages labels in it. */
const isMetadata = ({ element, parent }: MergedField): boolean =>
  element === "f:metadata" && parent !== undefined && parent.parent === undefined;

/** A default of what other clients have added since, or manage in part: an applied field has a manager, its defaults have none. */
const isDefaultOfTheirs: Test = ({ was, wanted, ours, theirs, parent }) =>
  [was, wanted, ours, theirs].every((value) => value === undefined) &&
  parent !== undefined &&
  !isMetadata(parent) &&
  parent.was === undefined &&
  parent.theirs !== undefined;

/** Whether it had a manager, has none any more, and the change has not set it: such as a default, where the manager has left it out since. */
const isReleased: Test = (field) =>
  field.former !== undefined &&
  field.theirs === undefined &&
  field.ours === undefined &&
  !isChanged(field) &&
  !field.isOfOwners;

const hasNoOtherOwner: Test = ({ theirs }) => theirs === undefined;

const isKeyOfItem: Test = ({ parent, element }) => parent?.keys.some((key) => element === `f:${key}`) === true;

const isNulledByChange: Test = ({ is, wanted, ours, since }) =>
  is === null && wanted === null && ours === undefined && since === undefined;

const isSetByChange: Test = (field) => field.ours !== undefined || isChanged(field);

/**
 * Whether its managers have certainly not written since, so that it differs as a consequence of the change: as where an admission
 * policy or webhook derives it from another field. The API server leaves the field with its former manager then.
 */
const isConsequence: Test = ({ theirs, possiblyNewer }) => theirs !== undefined && possiblyNewer === undefined;

/** The first that holds decides. */
const RULES: readonly (readonly [holds: Test, verdict: MergeVerdict])[] = [
  // It depends on other fields that the change set, and is restored with them.
  [isLeftOut, "before"],
  // Another client removed it, and the change did not set it.
  [isGoneWithoutChange, "live"],
  // The change removed it.
  [isReplacedByNothing, "before"],
  // Another client removed what the change had set.
  [isGone, "conflict"],
  // Another client took it over in another version of the kind, in which it has another name.
  [isTakenElsewhere, "conflict"],
  // Without it, what other clients have added would change, or get the default again.
  [isDefaultOfTheirs, "live"],
  // Another client has let go of it: the former value is nobody's wish any more.
  [isReleased, "live"],
  // It never had a manager.
  [isUnclaimed, "unclaimed"],
  // Only the Transaction manages it, or it has no manager, such as a default of a field of the change.
  [hasNoOtherOwner, "before"],
  // It is added and removed together with its item.
  [isKeyOfItem, "live"],
  // The change set it to null, which has no manager: the former manager keeps the bare field.
  [isNulledByChange, "before"],
  // Another client took over what the change has set.
  [isSetByChange, "conflict"],
  // No other client has set it.
  [isConsequence, "before"],
];

/** The verdict on a field that is merged as a whole. If no rule applies, the field is another client's, and stays. */
export const verdict = (field: MergedField): MergeVerdict => RULES.find((rule) => rule[0](field))?.[1] ?? "live";
