import { byElement, child, elementOf, type Fields, isWhole, type ListKind, listKind } from "./field-set.ts";
import { asObject, canonical, isObject, member } from "../kubernetes/json.ts";
import type { Json, JsonObject } from "@janus/types";

type Keys = Extract<ListKind, { by: "keys" }>;

/** What is there, in the order in which it is believed, and who owns what of it. */
interface References {
  readonly values: readonly (Json | undefined)[];
  readonly known: Fields | undefined;
  readonly ours: Fields | undefined;
}

const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The key of a list item; `undefined` where it is left to its default. */
const keyOf = (item: Json, key: string): Json | undefined => member(asObject(item), key) ?? undefined;

/** The values of these keys, in one text; `undefined` where one of them is left to its default. */
const valuesOf = (item: Json, keys: readonly string[]): string | undefined => {
  const values = keys.map((key) => keyOf(item, key));
  return values.includes(undefined) ? undefined : canonical(values);
};

/** The items of a list by their values of these keys. */
const alike = (items: readonly Json[], keys: readonly string[]): ReadonlyMap<string, readonly Json[]> => {
  const found = new Map<string, Json[]>();
  for (const item of items) {
    const values = valuesOf(item, keys);
    if (values === undefined) continue;
    const others = found.get(values);
    if (others === undefined) found.set(values, [item]);
    else others.push(item);
  }
  return found;
};

/**
 * The item that one stands for which leaves keys to their defaults: of those that match it, and that no other of the content
 * names, one of ours; else one of protocol TCP, which in built-in kinds is the only default of a key; else the first. Those
 * that name the same keys with the same values stand for the same, and are looked for once.
 */
const meaning = (kind: Keys, named: ReadonlySet<string>, there: References): ((item: Json) => Json | undefined) => {
  const element = (one: Json): string => elementOf(kind, one);
  const lists = there.values.map((value) => itemsOf(value).filter((one) => !named.has(element(one))));
  const matches = new Map<string, readonly ReadonlyMap<string, readonly Json[]>[]>();
  const meant = new Map<string, Json | undefined>();
  const choose = (keys: readonly string[], values: string): Json | undefined => {
    const by = canonical(keys);
    const all = matches.get(by) ?? lists.map((items) => alike(items, keys));
    matches.set(by, all);
    const found = all.flatMap((one) => [one.get(values) ?? []]).find((items) => items.length > 0) ?? [];
    return (
      found.find((one) => child(there.ours, element(one)) !== undefined) ??
      found.find((one) => keyOf(one, "protocol") === "TCP") ??
      found[0]
    );
  };
  return (item) => {
    const keys = kind.keys.filter((key) => keyOf(item, key) !== undefined);
    const values = valuesOf(item, keys) ?? "";
    const asked = canonical([keys, values]);
    if (!meant.has(asked)) meant.set(asked, choose(keys, values));
    return meant.get(asked);
  };
};

const completedList = (content: readonly Json[], kind: Keys, there: References): readonly Json[] => {
  const lacks = (item: Json): boolean => kind.keys.some((key) => keyOf(item, key) === undefined);
  const named = new Set(content.filter((item) => !lacks(item)).map((item) => elementOf(kind, item)));
  const meant = meaning(kind, named, there);
  const found = there.values.map((value) => byElement(kind, itemsOf(value)));
  return content.map((item) => {
    const stands = isObject(item) && lacks(item) ? meant(item) : undefined;
    const keys = stands === undefined ? [] : kind.keys.map((key) => [key, keyOf(stands, key) ?? null] as const);
    const whole = isObject(item) ? { ...item, ...Object.fromEntries(keys) } : item;
    const element = elementOf(kind, whole);
    return completedValue(whole, {
      values: found.map((items) => items.get(element)),
      known: child(there.known, element),
      ours: child(there.ours, element),
    });
  });
};

const completedValue = (content: Json, there: References): Json => {
  if (there.known === undefined || isWhole(there.known)) return content;
  const kind = listKind(there.known);
  if (kind?.by === "keys") return completedList(itemsOf(content), kind, there);
  return isObject(content) ? completedObject(content, there) : content;
};

const completedObject = (content: JsonObject, { values, known, ours }: References): JsonObject =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => {
      const there: References = {
        values: values.map((object) => member(asObject(object), name)),
        known: child(known, `f:${name}`),
        ours: child(ours, `f:${name}`),
      };
      return [name, completedValue(value, there)];
    }),
  );

/**
 * What a user wrote, with the keys of list items that it leaves to their defaults, as the server has filled them in: else
 * it does not tell which of the items of a list it means.
 *
 * @param there the live object, and the one of before.
 * @param known every field that anybody owns; tells how lists are merged.
 * @param ours those that the Transaction owns.
 */
export const withListMapDefaults = (
  content: JsonObject,
  there: readonly JsonObject[],
  known: Fields,
  ours: Fields,
): JsonObject => completedObject(content, { values: there, known, ours });
