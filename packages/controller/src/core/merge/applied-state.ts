// Computes the object that a server-side apply would make of a live one.
import { child, type Fields, isWhole, type Path } from "./field-set.ts";
import { type ListItem, type ListItems, type ListKind, listItems, listKind } from "./list-element.ts";
import { asObject, equal, isObject, type Json, type JsonObject, member } from "@janus/types";

/** One field that is applied: its live value, the one in the content, all its managers, and what of it goes. */
interface AppliedField {
  readonly is: Json | undefined;
  readonly wanted: Json | undefined;
  readonly managed: Fields | undefined;
  readonly leftOut: Fields | undefined;
}

const partOf = ({ managed, leftOut }: AppliedField, element: string, is: Json | undefined, wanted: Json | undefined) =>
  appliedField({ is, wanted, managed: child(managed, element), leftOut: child(leftOut, element) });

const appliedMembers = (field: AppliedField, is: JsonObject): JsonObject => {
  const wanted = asObject(field.wanted);
  const names = [...Object.keys(is), ...Object.keys(wanted).filter((name) => !Object.hasOwn(is, name))];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = partOf(field, `f:${name}`, member(is, name), member(wanted, name));
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
};

/**
 * The names of the items after an apply, in the order that the API server gives them: that of the content, with the items that only
 * the live list has where they are.
 * https://github.com/kubernetes-sigs/structured-merge-diff/blob/master/typed/merge.go
 *
 * @example
 *   live [x, a, b]  content [b, a]  →  [x, b, a]
 *   live [a, x, b]  content [a, c]  →  [a, x, b, c]
 */
const appliedOrder = (live: ListItems, content: ListItems): readonly string[] => {
  const [left, right] = [[...live.keys()], [...content.keys()]];
  const shared = right.filter((name) => live.has(name));
  const order = new Set<string>();
  let next = 0;
  const take = (name: string): void => {
    order.add(name);
    if (shared[next] === name) next += 1;
  };
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [mine, theirs] = [left[l], right[r]];
    if (mine !== undefined && mine === theirs) {
      take(mine);
      [l, r] = [l + 1, r + 1];
    } else if (mine !== undefined && !content.has(mine)) {
      order.add(mine);
      l += 1;
    } else if (mine !== undefined && (order.has(mine) || (theirs !== undefined && shared[next] !== mine))) l += 1;
    else if (theirs !== undefined) {
      take(theirs);
      r += 1;
    } else l += 1;
  }
  return [...order];
};

const appliedItems = (field: AppliedField, kind: ListKind, is: readonly Json[]): readonly Json[] => {
  const wanted = Array.isArray(field.wanted) ? (field.wanted as readonly Json[]) : [];
  const content = listItems(kind, wanted);
  // An apply leaves one of several items of one name, which a create takes.
  const live = new Map(
    [...listItems(kind, is)].filter(([name, { element }]) => content.has(name) || !content.has(element)),
  );
  const applied = (name: string): Json | undefined => {
    const [one, other] = [live.get(name), content.get(name)];
    const { element } = (one ?? other) as ListItem;
    return partOf(field, element, one?.item, other?.item);
  };
  return appliedOrder(live, content).flatMap((name) => applied(name) ?? []);
};

const appliedField = (field: AppliedField): Json | undefined => {
  const { is, wanted, managed, leftOut } = field;
  if (is === undefined || (leftOut !== undefined && isWhole(leftOut))) return wanted;
  if (wanted === undefined && leftOut === undefined) return is;
  // Whoever manages a map or list as a whole replaces it as a whole.
  if (managed !== undefined && isWhole(managed)) return wanted;
  if (isObject(is) && (wanted === undefined || isObject(wanted))) return appliedMembers(field, is);
  const kind = listKind(managed);
  return kind !== undefined && Array.isArray(is) && (wanted === undefined || Array.isArray(wanted))
    ? appliedItems(field, kind, is as readonly Json[])
    : wanted;
};

/**
 * The state that an apply makes of a live object, as the API server does it: what is left out goes, and the content is merged
 * with the rest, as the managers of the live object show.
 *
 * Guarantees: what is neither left out nor in the content stays.
 * Assumes:    items of the content have all keys of their lists.
 */
export const appliedState = (
  live: JsonObject,
  content: JsonObject,
  managed: Fields,
  leftOut: Fields | undefined,
): JsonObject => asObject(appliedField({ is: live, wanted: content, managed: ofObject(managed), leftOut }));

/** The managed fields of an object: it is never managed as a whole, even if it has none. */
const ofObject = (managed: Fields): Fields | undefined => (isWhole(managed) ? undefined : managed);

const unclearIn = ({ is, wanted, managed, leftOut }: AppliedField, path: Path): Path | undefined => {
  const isReplaced = [managed, leftOut].some((fields) => fields !== undefined && isWhole(fields));
  if (is === undefined || wanted === undefined || isReplaced) return undefined;
  const parts: (readonly [element: string, is: Json | undefined, wanted: Json])[] = [];
  if (isObject(is) && isObject(wanted))
    for (const [name, value] of Object.entries(wanted)) parts.push([`f:${name}`, member(is, name), value]);
  if (Array.isArray(is) && Array.isArray(wanted)) {
    const kind = listKind(managed);
    if (kind === undefined) return is.every((item) => wanted.some((other) => equal(item, other))) ? undefined : path;
    const live = listItems(kind, is as readonly Json[]);
    for (const { element, item } of listItems(kind, wanted as readonly Json[]).values())
      parts.push([element, live.get(element)?.item, item]);
  }
  for (const [element, one, other] of parts) {
    const below = { is: one, wanted: other, managed: child(managed, element), leftOut: child(leftOut, element) };
    const found = unclearIn(below, [...path, element]);
    if (found !== undefined) return found;
  }
  return undefined;
};

/**
 * The first list of which nobody manages an item, so that nothing shows how the API server would merge it, and that has items which
 * the content has not; undefined if there is none.
 */
export const unclearList = (
  live: JsonObject,
  content: JsonObject,
  managed: Fields,
  leftOut: Fields | undefined,
): Path | undefined => unclearIn({ is: live, wanted: content, managed: ofObject(managed), leftOut }, []);
