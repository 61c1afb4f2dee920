// Restores the order of list items, unless other clients have changed it.
import { equal } from "@janus/types";
import type { ListItems } from "./list-element.ts";
import type { MergeVerdict } from "./merge-rules.ts";

/** The names of the items that all others have, too, in the order of the first list. */
const commonNames = (list: ListItems, ...others: readonly ListItems[]): readonly string[] =>
  [...list.keys()].filter((name) => others.every((other) => other.has(name)));

/** Whether all items of a list were there before, in this order. */
export const isInFormerOrder = (was: ListItems, is: ListItems): boolean => equal(commonNames(was, is), [...is.keys()]);

/**
 * The order that a rollback gives the items of a list: as with a field's value, the former one only where the change has given
 * them another, and a conflict where others have then given them yet another.
 *
 * @example
 *   before [a, b]     live [x, a, b]  content [a]        →  live
 *   before [a, b]     live [b, a]     content [a, b]     →  live
 *   before [a, b]     live [b, a]     content [b, a]     →  before
 *   before [a, b, c]  live [b, c, a]  content [c, b, a]  →  conflict
 */
const orderVerdict = (was: ListItems, is: ListItems, wanted: ListItems): MergeVerdict => {
  if (equal(commonNames(was, is), commonNames(is, was))) return "live";
  const inContent = commonNames(wanted, was, is);
  if (equal(inContent, commonNames(was, is, wanted))) return "live";
  return equal(inContent, commonNames(is, was, wanted)) ? "before" : "conflict";
};

/** The names in the former order; items that other clients added come last. */
const namesAsBefore = (was: ListItems, is: ListItems): readonly string[] => [
  ...was.keys(),
  ...[...is.keys()].filter((name) => !was.has(name)),
];

/** The names in the live order; items that are not there any more come after the item that they came after before. */
const namesAsLive = (was: ListItems, is: ListItems): readonly string[] => {
  const [first, after] = [[] as string[], new Map<string, string[]>()];
  let gone = first;
  for (const name of was.keys()) {
    if (is.has(name)) after.set(name, (gone = []));
    else gone.push(name);
  }
  return [...first, ...[...is.keys()].flatMap((name) => [name, ...(after.get(name) ?? [])])];
};

/** The order of a list after a rollback. */
export interface MergedOrder {
  /** The names of all items that it had before, or has now. */
  readonly names: readonly string[];
  readonly isConflict: boolean;
}

export const mergedOrder = (was: ListItems, is: ListItems, wanted: ListItems): MergedOrder => {
  const verdict = orderVerdict(was, is, wanted);
  return {
    names: verdict === "before" ? namesAsBefore(was, is) : namesAsLive(was, is),
    isConflict: verdict === "conflict",
  };
};
