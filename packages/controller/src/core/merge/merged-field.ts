import { child, type Fields, type Path } from "./field-set.ts";
import type { Json } from "@janus/types";

/** What is known of the change that is taken back. */
export interface ChangeMade {
  /** Whether it replaced the whole object, so that what is not in its content was removed by it. */
  readonly replaces: boolean;
  /** Whether it is unknown which fields it has set: only those of its content count as its own. */
  readonly isBlind: boolean;
}

/** One field on the way down from the root of the object: what it is in each version, and who owns it or a part of it. */
export interface MergedField {
  readonly change: ChangeMade;
  /** Its path, computed only for messages. */
  readonly element: string;
  readonly parent: MergedField | undefined;
  /** The names of the fields in it that are its keys, if it is an item of a list. */
  readonly keys: readonly string[];
  /** Its value of before, its live one, and the one that the change was to write. */
  readonly was: Json | undefined;
  readonly is: Json | undefined;
  readonly wanted: unknown;
  /** What the Transaction owns of it in the live object. */
  readonly ours: Fields | undefined;
  /** What anybody else owns of it in the live object. */
  readonly theirs: Fields | undefined;
  /** What of that is owned by those who have written since the change. */
  readonly since: Fields | undefined;
  /** All its managed fields, now or before: they show how lists are merged. */
  readonly managed: Fields | undefined;
}

const NO_KEYS: readonly string[] = [];

/** A member of an object or an item of a list, which is there, was there, or both; and what it is in the content. */
export type MergedPart = Pick<MergedField, "element" | "was" | "is" | "wanted">;

/** The field of this part. `keys`: those of the list that it is an item of. */
export const fieldOf = (
  parent: MergedField,
  { element, was, is, wanted }: MergedPart,
  keys: readonly string[] = NO_KEYS,
): MergedField => ({
  change: parent.change,
  element,
  parent,
  keys,
  was,
  is,
  wanted,
  ours: child(parent.ours, element),
  theirs: child(parent.theirs, element),
  since: child(parent.since, element),
  managed: child(parent.managed, element),
});

export const pathOf = ({ parent, element }: MergedField): Path =>
  parent === undefined ? [] : [...pathOf(parent), element];
