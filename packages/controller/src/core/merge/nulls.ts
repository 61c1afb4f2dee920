// Handles nulls in contents: removes them, and finds the fields that they delete.
import { child, type Fields, none } from "./field-set.ts";
import { itemAt, listItems, listKind } from "./list-element.ts";
import { isObject, type Json, type JsonObject, member, memoized } from "@janus/types";

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

const strippedFields = (object: JsonObject): JsonObject => {
  const kept = Object.entries(object).flatMap(([name, value]) =>
    value === null ? [] : [[name, stripped(value)] as const],
  );
  const isSame = kept.length === Object.keys(object).length && kept.every(([name, value]) => value === object[name]);
  return isSame ? object : Object.fromEntries(kept);
};

const stripped = (value: Json): Json => {
  if (isObject(value)) return strippedFields(value);
  if (!isList(value)) return value;
  const items = value.map(stripped);
  return items.every((item, at) => item === value[at]) ? value : items;
};

/** A manifest without fields that are null. Items of lists stay: without one, the others would have other places. */
export const withoutNulls = memoized(strippedFields);

/** Finds the first item of a list that is null: `spec.args[1]`; undefined if there is none. */
export const nullItem = (value: Json, path = ""): string | undefined => {
  if (isList(value)) {
    const at = value.indexOf(null);
    if (at >= 0) return `${path}[${at}]`;
    for (const [index, item] of value.entries()) {
      const found = nullItem(item, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
  } else if (isObject(value))
    for (const [name, below] of Object.entries(value)) {
      const found = nullItem(below, path === "" ? name : `${path}.${name}`);
      if (found !== undefined) return found;
    }
  return undefined;
};

/** Finds where a manifest has null and what was made of it has nothing: `data.old`; undefined if nowhere. */
export const lostNull = (written: Json, made: Json | undefined, path = ""): string | undefined => {
  if (written === null) return made === undefined ? path : undefined;
  const parts = isList(written)
    ? written.map((item, at) => [`${path}[${at}]`, item, isList(made) ? made[at] : undefined] as const)
    : Object.entries(isObject(written) ? written : {}).map(
        ([name, value]) =>
          [path === "" ? name : `${path}.${name}`, value, isObject(made) ? member(made, name) : undefined] as const,
      );
  for (const [below, value, there] of parts) {
    const found = lostNull(value, there, below);
    if (found !== undefined) return found;
  }
  return undefined;
};

const partsAt = (elements: readonly (readonly [string, Fields | undefined])[]): Fields | undefined => {
  const parts = elements.flatMap(([element, part]) => (part === undefined ? [] : [[element, part] as const]));
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
};

/**
 * The fields of a live object that the content sets to null, also in items of lists that have keys; undefined if there is none.
 *
 * @example
 *   live {a: 1, b: {c: 1}}  content {a: null, b: {c: null, d: null}}  →  a, b.c
 */
export const nulledFields = (
  live: Json | undefined,
  content: Json | undefined,
  managed: Fields | undefined,
): Fields | undefined => {
  if (live === undefined || content === undefined) return undefined;
  if (content === null) return none;
  if (isObject(content) && isObject(live))
    return partsAt(
      Object.entries(content).map(([name, value]) => {
        const element = `f:${name}`;
        return [element, nulledFields(member(live, name), value, child(managed, element))] as const;
      }),
    );
  const kind = listKind(managed);
  if (kind === undefined || !isList(content) || !isList(live)) return undefined;
  return partsAt(
    [...listItems(kind, content).values()].map(
      ({ element, item }) => [element, nulledFields(itemAt(live, element), item, child(managed, element))] as const,
    ),
  );
};

/**
 * Finds null in a list of a Patch of which nobody manages an item, so that nothing shows what it would remove; returns its path, or
 * undefined if there is none.
 */
export const nullInUnknownList = (
  live: Json | undefined,
  content: Json | undefined,
  managed: Fields | undefined,
  path = "",
): string | undefined => {
  if (live === undefined) return undefined;
  if (isList(content) && managed === undefined)
    return content.some((item) => isObject(item) && withoutNulls(item) !== item) ? path : undefined;
  if (!isObject(content) || !isObject(live)) return undefined;
  for (const [name, value] of Object.entries(content)) {
    const below = path === "" ? name : `${path}.${name}`;
    const found = nullInUnknownList(member(live, name), value, child(managed, `f:${name}`), below);
    if (found !== undefined) return found;
  }
  return undefined;
};

/**
 * Finds where the content of a Patch has null in a map that is always replaced as a whole, such as a selector: `spec.selector`;
 * undefined if there is none. A Patch would remove all of its other keys.
 */
export const nullInWhole = (
  live: Json | undefined,
  content: Json | undefined,
  managed: Fields | undefined,
  path = "",
): string | undefined => {
  if (managed === undefined || !isObject(live) || !isObject(content)) return undefined;
  if (Object.keys(managed).length === 0 && Object.keys(live).length > 0)
    return Object.values(content).includes(null) ? path : undefined;
  for (const [name, value] of Object.entries(content)) {
    const below = path === "" ? name : `${path}.${name}`;
    const found = nullInWhole(member(live, name), value, child(managed, `f:${name}`), below);
    if (found !== undefined) return found;
  }
  return undefined;
};
