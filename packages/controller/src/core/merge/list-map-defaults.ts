// Finds the list items that items without all their keys denote.
import { elementOf, type ListItem, type ListItems, type ListKind, listItems, listKind } from "./list-element.ts";
import { child, type Fields, isWhole, none, type Path } from "./field-set.ts";
import { asObject, isObject, type Json, type JsonObject, member, memoized, memoizedBy } from "@janus/types";

type Keys = Extract<ListKind, { type: "keys" }>;

/** The managers of the fields of objects that defaults are taken from. */
interface Owned {
  /** Every managed field; they show how lists are merged. */
  readonly managed: Fields | undefined;
  /** Fields of the Transaction, of other clients, and those that had a manager before the change. */
  readonly ours: Fields | undefined;
  readonly theirs: Fields | undefined;
  readonly former: Fields | undefined;
}

/** Objects to take defaults from, in the order of preference. */
interface References extends Owned {
  readonly values: readonly (Json | undefined)[];
}

const referencesIn = (
  { managed, ours, theirs, former }: References,
  element: string,
  values: References["values"],
): References => ({
  values,
  managed: child(managed, element),
  ours: child(ours, element),
  theirs: child(theirs, element),
  former: child(former, element),
});

const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The key of a list item; `undefined` if it has its default. */
const keyOf = (item: Json, key: string): Json | undefined => member(asObject(item), key) ?? undefined;

const lacksKey = ({ keys }: Keys, item: Json): boolean => keys.some((key) => keyOf(item, key) === undefined);

/** The rank of an item that other clients have added since. */
const ADDED = 3;

/**
 * The rank of an item among several that may be denoted: one of ours first; else of protocol TCP, the only default of a key in
 * built-in kinds; and only if there is no other one, an item that other clients have added since.
 */
const rankOf = ({ element, item }: ListItem, { ours, theirs, former }: Owned): number => {
  if (child(ours, element) !== undefined) return 0;
  if (child(theirs, element) !== undefined && child(former, element) === undefined) return ADDED;
  return keyOf(item, "protocol") === "TCP" ? 1 : 2;
};

/**
 * The items of a list by the keys that are present alone: the best of those with the same, and of equally good ones the first.
 *
 * @example by the port alone, where nothing is ours
 *   [{port: 80, protocol: UDP}, {port: 80, protocol: TCP}, {port: 81, protocol: UDP}]
 *   → {port: 80}: {port: 80, protocol: TCP}, {port: 81}: {port: 81, protocol: UDP}
 *
 * @param named items that the content names in full: no other denotes them
 */
const bestByKeys = (
  items: ListItems,
  present: Keys,
  named: ReadonlySet<string>,
  owned: Owned,
): ReadonlyMap<string, ListItem> => {
  const best = new Map<string, ListItem>();
  for (const item of items.values()) {
    const element = elementOf(present, item.item);
    const other = best.get(element);
    if (!named.has(item.element) && (other === undefined || rankOf(item, owned) < rankOf(other, owned)))
      best.set(element, item);
  }
  return best;
};

/** An index of items for those that have only these keys: in each list, by these keys. */
interface Lookup {
  readonly present: Keys;
  readonly lists: readonly ListItems[];
  readonly bestIn: (list: ListItems) => ReadonlyMap<string, ListItem>;
  readonly isAdded: (item: ListItem) => boolean;
}

const lookupFor = (like: Json, content: readonly Json[], kind: Keys, there: References): Lookup => {
  const named = new Set(content.flatMap((item) => (lacksKey(kind, item) ? [] : [elementOf(kind, item)])));
  const present: Keys = { type: "keys", keys: kind.keys.filter((key) => keyOf(like, key) !== undefined) };
  return {
    present,
    lists: there.values.map((value) => listItems(kind, itemsOf(value))),
    bestIn: memoized((list: ListItems) => bestByKeys(list, present, named, there)),
    isAdded: (item) => rankOf(item, there) === ADDED,
  };
};

const lookUp = ({ present, lists, bestIn, isAdded }: Lookup, item: Json): Json | undefined => {
  const element = elementOf(present, item);
  const found = lists.flatMap((list) => bestIn(list).get(element) ?? []);
  return (found.find((one) => !isAdded(one)) ?? found[0])?.item;
};

/** The pattern of the keys that it has: `10` of port and protocol, for `{port: 80}`. */
const patternOf = ({ keys }: Keys, item: Json): string =>
  keys.reduce((pattern, key) => pattern + (keyOf(item, key) === undefined ? "0" : "1"), "");

/**
 * Finds the live item that is denoted by one without all keys, or else the former one. Items that have the same keys are
 * looked up in the same index, which is made once.
 *
 * @example live [{port: 80, protocol: UDP}, {port: 53, protocol: TCP}, {port: 53, protocol: UDP}]; before {port: 54, protocol: TCP}
 *   {port: 80}  →  {port: 80, protocol: UDP}
 *   {port: 53}  →  {port: 53, protocol: TCP}; where the content names that one besides: {port: 53, protocol: UDP}
 *   {port: 54}  →  {port: 54, protocol: TCP}; also where others have added {port: 54, protocol: UDP} since
 *   {port: 81}  →  undefined
 */
const denotedItems = (content: readonly Json[], kind: Keys, there: References): ((item: Json) => Json | undefined) => {
  const lookupLike = memoizedBy(
    (item: Json) => patternOf(kind, item),
    (item) => lookupFor(item, content, kind, there),
  );
  return (item) => lookUp(lookupLike(item), item);
};

/** The item with the keys of the live or former item that it denotes. */
const withKeys = ({ keys }: Keys, item: JsonObject, denoted: Json | undefined): JsonObject =>
  denoted === undefined
    ? item
    : keys.reduce<JsonObject>(
        (whole, key) => (keyOf(whole, key) === undefined ? { ...whole, [key]: keyOf(denoted, key) ?? null } : whole),
        item,
      );

/** Whether it is no keyed list, nor has a managed field with something below it, so that it has none in it either. */
const isFlat = (node: Fields | undefined): boolean => {
  for (const name in node) if (name.startsWith("k:") || !isWhole(child(node, name) ?? none)) return false;
  return true;
};

const completedList = (content: readonly Json[], kind: Keys, there: References): readonly Json[] => {
  const meant = denotedItems(content, kind, there);
  const found = there.values.map((value) => listItems(kind, itemsOf(value)));
  const whole = unlessSame(
    content,
    content.map((item) => (isObject(item) && lacksKey(kind, item) ? withKeys(kind, item, meant(item)) : item)),
  );
  const completed = Array.from(listItems(kind, whole).values(), ({ element, item }) => {
    if (isFlat(child(there.managed, element))) return item;
    const values = found.map((list) => list.get(element)?.item);
    return completedValue(item, referencesIn(there, element, values));
  });
  return unlessSame(whole, completed);
};

/** The very list that it was made of where it has the same items: these have names already. */
const unlessSame = (former: readonly Json[], items: readonly Json[]): readonly Json[] =>
  items.every((item, index) => item === former[index]) ? former : items;

const completedValue = (content: Json, there: References): Json => {
  if (isFlat(there.managed)) return content;
  const kind = listKind(there.managed);
  if (kind?.type === "keys") return content === null ? null : completedList(itemsOf(content), kind, there);
  return isObject(content) ? completedObject(content, there) : content;
};

const completedObject = (content: JsonObject, there: References): JsonObject => {
  const completed = Object.entries(content).map(([name, value]) => {
    const element = `f:${name}`;
    if (child(there.managed, element) === undefined) return [name, value] as const;
    const values = there.values.map((object) => member(asObject(object), name));
    return [name, completedValue(value, referencesIn(there, element, values))] as const;
  });
  return completed.every(([name, value]) => value === content[name]) ? content : Object.fromEntries(completed);
};

/**
 * Completes what a user wrote with the keys of list items that it leaves to their defaults, as the server has filled them in:
 * else it is ambiguous which item of a list it denotes. An object that lacks no key is returned unchanged.
 *
 * @param there the live object, and the former one.
 *
 * @example
 *   ports: [{port: 80}]  live [{port: 80, protocol: UDP}]  →  ports: [{port: 80, protocol: UDP}]
 */
export const withListMapDefaults = (content: JsonObject, there: readonly JsonObject[], owned: Owned): JsonObject =>
  completedObject(content, { ...owned, values: there });

/** The first item of a keyed list that leaves out one of its keys, and that key: nothing but the schema tells its default. */
export const itemWithoutKey = (
  content: Json,
  managed: Fields | undefined,
  path: Path = [],
): { readonly list: Path; readonly key: string } | undefined => {
  const kind = listKind(managed);
  const items = itemsOf(content);
  if (kind?.type === "keys") {
    for (const item of items) {
      const key = kind.keys.find((name) => keyOf(item, name) === undefined);
      if (key !== undefined) return { list: path, key };
    }
  }
  const parts = isObject(content)
    ? Object.entries(content).map(([name, value]) => [`f:${name}`, value] as const)
    : kind === undefined
      ? []
      : [...listItems(kind, items).values()].map(({ element, item }) => [element, item] as const);
  for (const [element, value] of parts) {
    const below = child(managed, element);
    const found = below === undefined ? undefined : itemWithoutKey(value, below, [...path, element]);
    if (found !== undefined) return found;
  }
  return undefined;
};
