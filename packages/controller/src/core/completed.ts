import { child, elementOf, type Fields, isWhole, type ListKind, listKind } from "./fields.ts";
import { asObject, equal, isObject, member } from "./json.ts";
import type { Json, JsonObject } from "./object.ts";

type Keys = Extract<ListKind, { by: "keys" }>;

/** What is there, in the order in which it is believed, and who owns what of it. */
interface There {
  readonly values: readonly (Json | undefined)[];
  readonly known: Fields | undefined;
  readonly ours: Fields | undefined;
}

const below = ({ values, known, ours }: There, element: string, find: (value: Json) => Json | undefined): There => ({
  values: values.map((value) => (value === undefined ? undefined : find(value))),
  known: child(known, element),
  ours: child(ours, element),
});

const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The key of a list item; `undefined` where it is left to its default. */
const keyOf = (item: Json, key: string): Json | undefined => member(asObject(item), key) ?? undefined;

/**
 * The item that one stands for which leaves keys to their defaults: of those that match it, and that no other of the content
 * names, one of ours; else one of protocol TCP, which in built-in kinds is the only default of a key; else the first.
 */
const meant = (item: Json, named: ReadonlySet<string>, { by, keys }: Keys, there: There): Json | undefined => {
  const element = (one: Json): string => elementOf({ by, keys }, one);
  const matches = (one: Json): boolean =>
    !named.has(element(one)) &&
    keys.every((key) => keyOf(item, key) === undefined || equal(keyOf(item, key), keyOf(one, key)));
  const found = there.values.map((value) => itemsOf(value).filter(matches)).find((items) => items.length > 0) ?? [];
  return (
    found.find((one) => child(there.ours, element(one)) !== undefined) ??
    found.find((one) => keyOf(one, "protocol") === "TCP") ??
    found[0]
  );
};

const completedList = (content: readonly Json[], kind: Keys, there: There): readonly Json[] => {
  const lacks = (item: Json): boolean => kind.keys.some((key) => keyOf(item, key) === undefined);
  const named = new Set(content.filter((item) => !lacks(item)).map((item) => elementOf(kind, item)));
  return content.map((item) => {
    const stands = isObject(item) && lacks(item) ? meant(item, named, kind, there) : undefined;
    const keys = stands === undefined ? [] : kind.keys.map((key) => [key, keyOf(stands, key) ?? null] as const);
    const whole = isObject(item) ? { ...item, ...Object.fromEntries(keys) } : item;
    const element = elementOf(kind, whole);
    return completedValue(
      whole,
      below(there, element, (value) => itemsOf(value).find((one) => elementOf(kind, one) === element)),
    );
  });
};

const completedValue = (content: Json, there: There): Json => {
  if (there.known === undefined || isWhole(there.known)) return content;
  const kind = listKind(there.known);
  if (kind?.by === "keys") return completedList(itemsOf(content), kind, there);
  return isObject(content) ? completedObject(content, there) : content;
};

const completedObject = (content: JsonObject, there: There): JsonObject =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => [
      name,
      completedValue(
        value,
        below(there, `f:${name}`, (object) => member(asObject(object), name)),
      ),
    ]),
  );

/**
 * What a user wrote, with the keys of list items that it leaves to their defaults, as the server has filled them in: else
 * it does not tell which of the items of a list it means.
 *
 * @param there the live object, and the one of before.
 * @param known every field that anybody owns; tells how lists are merged.
 * @param ours those that the Transaction owns.
 */
export const completed = (content: JsonObject, there: readonly JsonObject[], known: Fields, ours: Fields): JsonObject =>
  completedObject(content, { values: there, known, ours });
