// Parses the k: and v: elements of fieldsV1, and names the items of a list by them.
import { isTooDeep } from "../kubernetes/nesting.ts";
import type { Fields } from "./field-set.ts";
import { asObject, canonical, type Json, type JsonObject, member, memoized, memoizedBy, parseJson } from "@janus/types";

/** How the server merges a list, as far as its managed fields show. */
export type ListKind =
  /** Its items are named by the values of these keys. */
  | { readonly type: "keys"; readonly keys: readonly string[] }
  /** It is a set: its items are named by their values. */
  | { readonly type: "value" };

/**
 * Parses what an element says of its item: the keys of a `k:`, the value of a `v:`; `null` for what is no JSON, or nested deeper
 * than any object that Janus handles, so that it names nothing.
 */
export const parseElement = (element: string): Json => {
  const said = (parseJson(element.slice(2)) ?? null) as Json;
  return typeof said === "object" && said !== null && isTooDeep(said) ? null : said;
};

/** The names of the keys in a `k:` element. */
export const keysOf = (element: string): readonly string[] =>
  element.startsWith("k:") ? Object.keys(asObject(parseElement(element))) : [];

const kindOf = (element: string, said: Json): ListKind =>
  element.startsWith("v:")
    ? { type: "value" }
    : { type: "keys", keys: element.startsWith("k:") ? Object.keys(asObject(said)) : [] };

const kindIn = memoized((node: Fields): ListKind | undefined => {
  for (const name in node) if (name.startsWith("k:") || name.startsWith("v:")) return kindOf(name, parseElement(name));
  return undefined;
});

/** `undefined`: as a whole. The very same kind for the very same fields. */
export const listKind = (node: Fields | undefined): ListKind | undefined =>
  node === undefined ? undefined : kindIn(node);

const json = (value: Json): string => (typeof value === "object" ? canonical(value) : JSON.stringify(value));

/** Escapes as Go does in JSON, for the sake of HTML. */
const escaped = (text: string): string =>
  /[<>&\u2028\u2029]/.test(text)
    ? text.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;

type Namer = (item: JsonObject) => string;

/** The part of a value that is remembered by a key: the value itself. */
const ofValue = (value: Json | undefined): Json | undefined => value;

/**
 * Names items by these keys, before the text of the keys after them. It goes by the last key first: of ports, that is the
 * protocol, of which there are few.
 */
const byKeys = (keys: readonly string[], text: string): Namer => {
  const last = keys.at(-1);
  if (last === undefined) return () => `k:{${text}}`;
  const others = keys.slice(0, -1);
  const withValue = (value: Json | undefined): string =>
    value === undefined ? text : `${escaped(`${JSON.stringify(last)}:${json(value)}`)}${text === "" ? "" : ","}${text}`;
  if (others.length === 0) {
    const elementOfValue = memoizedBy(ofValue, (value) => `k:{${withValue(value)}}`);
    return (item) => elementOfValue(member(item, last));
  }
  const rest = memoizedBy(ofValue, (value) => byKeys(others, withValue(value)));
  return (item) => rest(member(item, last))(item);
};

/**
 * Names the items of lists, as the server does: keys in alphabetical order, without those that the item lacks. The same keys get
 * the very same text, whichever list they are in: then it need not be hashed and compared again.
 */
const namer = memoized((kind: ListKind): ((item: Json) => string) => {
  if (kind.type === "value") return (item) => `v:${escaped(json(item))}`;
  const nameOf = byKeys(kind.keys.toSorted(), "");
  return (item) => nameOf(asObject(item));
});

/** The element that names this item of a list. */
export const elementOf = (kind: ListKind, item: Json): string => namer(kind)(item);

/** An item of a list, and the element that names it. */
export interface ListItem {
  readonly element: string;
  readonly item: Json;
}

/**
 * All items in their order, each under its element. Some lists may name one twice, such as that of environment variables:
 * the second is under its number, too.
 *
 *   [{name: A, value: 1}, {name: B}, {name: A, value: 2}]  →  k:{"name":"A"}, k:{"name":"B"}, 2 k:{"name":"A"}
 */
export type ListItems = ReadonlyMap<string, ListItem>;

const itemsByElement = (kind: ListKind, items: readonly Json[]): ListItems => {
  const elementFor = namer(kind);
  const found = new Map<string, ListItem>();
  const repeated = new Map<string, number>();
  for (const item of items) {
    const element = elementFor(item);
    if (!found.has(element)) found.set(element, { element, item });
    else {
      const number = (repeated.get(element) ?? 1) + 1;
      repeated.set(element, number);
      found.set(`${number} ${element}`, { element, item });
    }
  }
  return found;
};

interface ListIndex {
  /** The prefix of its kind. */
  readonly by: string;
  readonly kind: ListKind;
  readonly items: ListItems;
}

/** The items of one list, by every kind that it was taken for: one, unless managers own its items by different keys. */
const indexesOf = memoized<readonly Json[], ListIndex[]>(() => []);

/**
 * The most sets of keys by which the items of one list are looked up. The API server names them by the keys of the list, without
 * those that an item lacks; whoever writes managedFields himself may name each by another key, which names nothing.
 */
const MOST_KINDS = 16;

const prefixOf = (kind: ListKind): string => (kind.type === "value" ? "" : JSON.stringify(kind.keys));

const knownIndex = (kind: ListKind, items: readonly Json[]): ListIndex | undefined => {
  const by = prefixOf(kind);
  return indexesOf(items).find((index) => index.by === by);
};

const indexBy = (kind: ListKind, items: readonly Json[]): ListIndex => {
  const known = knownIndex(kind, items);
  if (known !== undefined) return known;
  const index: ListIndex = { by: prefixOf(kind), kind, items: itemsByElement(kind, items) };
  indexesOf(items).push(index);
  return index;
};

/** Names the items of a list: once, however often they are asked for. */
export const listItems = (kind: ListKind, items: readonly Json[]): ListItems => indexBy(kind, items).items;

/** Whether an item has all keys, so that its element names no other, whatever the keys of the list. */
const hasAllKeys = (kind: ListKind, item: Json): boolean => {
  if (kind.type === "keys") for (const key of kind.keys) if (member(asObject(item), key) === undefined) return false;
  return true;
};

/** Whether it names a text that has only one representation. */
const isPlainText = (element: string): boolean => /^v:"[^\\<>&\u2028\u2029]*"$/.test(element);

/** The first item that has just what the element says; `undefined` where there is none. */
export const itemAt = (items: readonly Json[], element: string): Json | undefined => {
  for (const { kind, items: byElement } of indexesOf(items)) {
    const found = byElement.get(element);
    if (found !== undefined && hasAllKeys(kind, found.item)) return found.item;
    if (kind.type === "value" && isPlainText(element)) return undefined;
  }
  // In the form in which the API server stores it, whichever client has written it.
  const said = parseElement(element);
  const kind = kindOf(element, said);
  const index = indexesOf(items).length < MOST_KINDS ? indexBy(kind, items) : knownIndex(kind, items);
  return index?.items.get(elementOf(index.kind, said))?.item;
};

/** Finds the first item that has just what the element of another one says, wherever that one is. */
export const itemLike = (items: readonly Json[], kind: ListKind): ((other: ListItem) => Json | undefined) => {
  const named = listItems(kind, items);
  return ({ element, item }) => (hasAllKeys(kind, item) ? named.get(element)?.item : itemAt(items, element));
};
