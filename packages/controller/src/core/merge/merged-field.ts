// One field of a three-way merge: its values in all versions, and its managers.
import { child, type Fields, isWhole, type Path } from "./field-set.ts";
import type { Json } from "@janus/types";

/** The known facts of the change that is rolled back. */
export interface ChangeMade {
  /** Whether it is unknown which fields it has set: only those of its content count as its own. */
  readonly isBlind: boolean;
  /** Whether it was made by a PUT: then nobody manages what it has emptied, which the API server does not store. */
  readonly isByPut: boolean;
  /**
   * Whether the API server has rejected a part of the former values beside what others have set: what has gone along with a change,
   * and never had a manager, stays away, and what others have set of an item or of another type of a union stays as a whole.
   */
  readonly yieldsToOthers: boolean;
}

/** The position of a field, reached from the root of the object. Its path is computed only for messages. */
export interface Located {
  readonly element: string;
  readonly parent: Located | undefined;
}

/** One field, reached from the root of the object: its value in each version, and the managers of it or a part of it. */
export interface MergedField extends Located {
  readonly change: ChangeMade;
  readonly parent: MergedField | undefined;
  /** Whether it is `metadata.ownerReferences`, or a part of that. */
  readonly isOfOwners: boolean;
  /** The names of its key fields, if it is an item of a list. */
  readonly keys: readonly string[];
  /** Its former value, its live value, and the value in the content of the change. */
  readonly was: Json | undefined;
  readonly is: Json | undefined;
  readonly wanted: unknown;
  /** The part of it that the change removed: all of it if nothing is below, as for an Update, whatever the content leaves out. */
  readonly removed: Fields | undefined;
  /** The part of it that the Transaction manages in the live object. */
  readonly ours: Fields | undefined;
  /** The part of it that other clients manage in the live object. */
  readonly theirs: Fields | undefined;
  /** The part of that whose managers have written since the change. */
  readonly since: Fields | undefined;
  /** The part of it that is of managers who may have written since the change. */
  readonly possiblyNewer: Fields | undefined;
  /** The part of it that had a manager before the change. */
  readonly former: Fields | undefined;
  /** All its managed fields, now or before: they show how lists are merged. */
  readonly managed: Fields | undefined;
}

const NO_KEYS: readonly string[] = [];

/** A member of an object or an item of a list, in the live object, the former one, or both; and its value in the content. */
export type MergedPart = Pick<MergedField, "element" | "was" | "is" | "wanted">;

const isOwners = ({ element: above, parent }: MergedField, element: string): boolean =>
  element === "f:ownerReferences" && above === "f:metadata" && parent?.parent === undefined;

const removedBelow = ({ removed }: MergedField, element: string): Fields | undefined =>
  removed === undefined || isWhole(removed) ? removed : child(removed, element);

/** The field of this part. `keys`: those of the list that it is an item of. */
export const fieldOf = (
  parent: MergedField,
  { element, was, is, wanted }: MergedPart,
  keys: readonly string[] = NO_KEYS,
): MergedField => ({
  change: parent.change,
  element,
  parent,
  isOfOwners: parent.isOfOwners || isOwners(parent, element),
  keys,
  was,
  is,
  wanted,
  removed: removedBelow(parent, element),
  ours: child(parent.ours, element),
  theirs: child(parent.theirs, element),
  since: child(parent.since, element),
  possiblyNewer: child(parent.possiblyNewer, element),
  former: child(parent.former, element),
  managed: child(parent.managed, element),
});

export const pathOf = (field: Located): Path => {
  const path: string[] = [];
  for (let at: Located = field; at.parent !== undefined; at = at.parent) path.push(at.element);
  return path.toReversed();
};
