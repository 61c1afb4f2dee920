// Finds the fields that an earlier Apply set and that the new content leaves out.
import { child, type Fields, filterAlong, has, isWhole, none } from "./field-set.ts";
import { keysOf } from "./list-element.ts";
import { under } from "./field-value.ts";

/** One field: what an earlier Apply has set of it, what other managers have, its live value, and the one in the content. */
interface EarlierField {
  readonly earlier: Fields;
  readonly theirs: Fields | undefined;
  readonly is: unknown;
  readonly wanted: unknown;
}

/** Whether the earlier Apply has set all items of a list: those that have no manager are not its own. */
const isItsList = (earlier: Fields, is: unknown): boolean =>
  !Array.isArray(is) ||
  isWhole(earlier) ||
  Object.keys(earlier).filter((element) => element !== ".").length >= is.length;

/**
 * The part of what an earlier Apply has set that goes: what the content leaves out, and nobody else manages. A field without
 * anything below goes as a whole, with the defaults in it; undefined if nothing goes.
 *
 * @param keys the fields by which it is named, if it is an item of a list
 *
 * @example
 *   earlier a: {b, c}  content {}                    →  a
 *   earlier a: {b, c}  content {a: {b: 1}}           →  a: {c}
 *   earlier a: {b, c}  content {}, theirs a: {b}     →  a: {c}
 */
export const leftOutOf = (
  { earlier, theirs, is, wanted }: EarlierField,
  keys: readonly string[] = [],
): Fields | undefined => {
  if (is === undefined) return undefined;
  // Whoever has only set a field of an item does not have the item: a container goes, though somebody has changed its image.
  const isTheirs = theirs !== undefined && (keys.length === 0 || has(theirs, []));
  if (wanted === undefined && !isTheirs && isItsList(earlier, is)) return none;
  const parts = Object.keys(earlier).flatMap((element) => {
    // An item that stays, if only for what others have in it, stays under its keys.
    const below = element === "." || keys.includes(element) ? undefined : child(earlier, element);
    if (below === undefined) return [];
    const read = under(element);
    const left = leftOutOf(
      { earlier: below, theirs: child(theirs, element), is: read(is), wanted: read(wanted) },
      keysOf(element).map((key) => `f:${key}`),
    );
    return left === undefined ? [] : [[element, left] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
};

/** The managed fields that the content sets. */
export const fieldsIn = (content: unknown, managed: Fields): Fields =>
  filterAlong<unknown>(managed, content, {
    into: (value, element) => under(element)(value),
    keeps: (value) => value !== undefined,
  });
