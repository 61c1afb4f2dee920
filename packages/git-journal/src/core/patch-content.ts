// Finds the fewest fields that a Patch has to set, so that an object says what is wanted; there are none where something has to go.
import {
  asObject,
  canonical,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  member,
  parseJson,
} from "@janus/types";
import * as O from "fp-ts/lib/Option.js";

/** Fields as managedFields have them: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managed-fields */
type Fields = JsonObject;

const union = (one: Fields, other: Fields): Fields => ({
  ...one,
  ...Object.fromEntries(
    Object.entries(other).map(([name, below]) => [name, union(asObject(member(one, name)), asObject(below))]),
  ),
});

/** All fields that anybody manages, in the version of the object: they show how lists and maps are merged. */
const managedFieldsOf = ({ apiVersion, metadata: { managedFields = [] } }: KubeObject): Fields =>
  managedFields
    .filter((entry) => entry.apiVersion === apiVersion && entry.subresource === undefined)
    .reduce<Fields>((all, { fieldsV1 = {} }) => union(all, fieldsV1), {});

const hasNull = (value: Json): boolean =>
  value === null ||
  (Array.isArray(value) ? value.some(hasNull) : isObject(value) && Object.values(value).some(hasNull));

/** Sets the whole value; none if it has a null, which would remove a field. */
const whole = (wanted: Json): O.Option<Json> => (hasNull(wanted) ? O.none : O.some(wanted));

const partOf = (is: Json | undefined, wanted: Json, managed: Fields | undefined): O.Option<Json> => {
  if (isObject(is) && isObject(wanted)) return partOfObject(is, wanted, managed);
  return Array.isArray(is) && Array.isArray(wanted) ? partOfList(is, wanted, managed) : whole(wanted);
};

/** Sets parts of a map; all of it, if nobody manages a part: it may be one that is always replaced. */
const partOfObject = (is: JsonObject, wanted: JsonObject, managed: Fields | undefined): O.Option<Json> => {
  if (Object.keys(is).some((name) => !Object.hasOwn(wanted, name))) return O.none;
  const parts = Object.entries(wanted)
    .filter(([name, value]) => !Object.hasOwn(is, name) || !equal(is[name], value))
    .map(([name, value]) =>
      O.map((part: Json) => [name, part] as const)(
        partOf(member(is, name), value, managed === undefined ? undefined : belowOf(managed, `f:${name}`)),
      ),
    );
  const isMerged = managed !== undefined && Object.keys(managed).length > 0;
  return O.flatMap((all: readonly (readonly [string, Json])[]) =>
    isMerged ? O.some<Json>(Object.fromEntries(all)) : whole(wanted),
  )(O.sequenceArray(parts));
};

const belowOf = (managed: Fields, element: string): Fields | undefined =>
  Object.hasOwn(managed, element) ? asObject(managed[element]) : undefined;

/** Reads the keys of `k:{"name":"web"}`. */
const keysIn = (element: string): JsonObject => asObject(parseJson(element.slice("k:".length)));

/** Maps the keys of items to what is managed below them; undefined: the list is not merged by keys. */
const itemsByKey = (
  managed: Fields,
): { readonly keys: readonly string[]; readonly below: ReadonlyMap<string, Fields> } | undefined => {
  const elements = Object.keys(managed).filter((element) => element.startsWith("k:"));
  const [first] = elements;
  if (first === undefined) return undefined;
  const keys = Object.keys(keysIn(first)).toSorted();
  const identities = elements.map((element) => identityIn(keysIn(element), keys));
  return { keys, below: new Map(identities.map((identity, at) => [identity, asObject(managed[elements[at] ?? ""])])) };
};

const identityIn = (item: Json | undefined, keys: readonly string[]): string =>
  canonical(keys.map((key) => member(asObject(item), key) ?? null));

/** Sets parts of items, none added, removed or moved: what the API server makes of that depends on who has set the others. */
const partOfList = (is: readonly Json[], wanted: readonly Json[], managed: Fields | undefined): O.Option<Json> => {
  if (managed === undefined || Object.keys(managed).some((element) => element.startsWith("v:"))) return O.none;
  const items = itemsByKey(managed);
  if (items === undefined) return whole(wanted);
  const { keys, below } = items;
  const identities = wanted.map((item) => identityIn(item, keys));
  const isSame =
    new Set(identities).size === is.length &&
    equal(
      is.map((item) => identityIn(item, keys)),
      identities,
    );
  if (!isSame) return O.none;
  const parts = wanted.flatMap((item, at) => {
    const identity = identities[at] ?? "";
    if (equal(is[at], item)) return [];
    const named = Object.fromEntries(
      keys.flatMap((key) => {
        const value = member(asObject(item), key);
        return value === undefined ? [] : [[key, value] as const];
      }),
    );
    return [
      O.map((part: Json): Json => ({ ...named, ...asObject(part) }))(partOf(is[at], item, below.get(identity) ?? {})),
    ];
  });
  return O.map((all: readonly Json[]): Json => all)(O.sequenceArray(parts));
};

/**
 * Makes the content of a Patch that makes an object say what is wanted.
 *
 * Guarantees: none if a field or an item of a list would have to go, or it is not known how a list is merged; it sets nothing that is
 *             as it is wanted, but for the keys of items, and maps of which nobody manages a part.
 *
 * @param is the compared fields of the live object
 */
export const patchContent = (live: KubeObject, is: JsonObject, wanted: JsonObject): O.Option<JsonObject> =>
  O.map(asObject)(partOfObject(is, wanted, managedFieldsOf(live)));
