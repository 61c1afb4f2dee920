import {
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  member,
  type Resource,
  without,
} from "@janus/types";

/** A field with its value in each of two objects, as far as it has one. */
export interface Difference {
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** Metadata that the API server itself sets with every write. */
const OF_SERVER: readonly string[] = [
  "managedFields",
  "resourceVersion",
  "generation",
  "uid",
  "creationTimestamp",
  "selfLink",
];

/** What an object says: without what the API server writes about it, and without its status. */
export const contentOf = (object: KubeObject): JsonObject => {
  const { metadata, ...content } = asObject(object);
  return {
    ...without(content, ["status"]),
    metadata: without(metadata, OF_SERVER),
  };
};

/** The same with a status that is no subresource: a change sets it as any other field. */
export const settableOf = (
  object: KubeObject,
  { statusSubresource }: Pick<Resource, "statusSubresource">,
): JsonObject => {
  const status = statusSubresource ? undefined : member(asObject(object), "status");
  return { ...contentOf(object), ...(status === undefined ? {} : { status }) };
};

const field = (path: string, name: string): string =>
  /^[A-Za-z_][\w-]*$/u.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;

/** The elements by name, if each has one of its own, as containers have. */
const byName = (list: readonly Json[]): ReadonlyMap<string, Json> | undefined => {
  const named = new Map(
    list.flatMap((one) => {
      const name = isObject(one) ? member(one, "name") : undefined;
      return typeof name === "string" ? [[`[name=${JSON.stringify(name)}]`, one] as const] : [];
    }),
  );
  return named.size === list.length ? named : undefined;
};

const byPlace = (list: readonly Json[]): ReadonlyMap<string, Json> => new Map(list.map((one, at) => [`[${at}]`, one]));

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** Whether those that both have come in the same order: init containers run in theirs. */
const inSameOrder = (a: ReadonlyMap<string, Json>, b: ReadonlyMap<string, Json>): boolean =>
  equal(
    [...a.keys()].filter((key) => b.has(key)),
    [...b.keys()].filter((key) => a.has(key)),
  );

/** What two lists have at each of their elements. */
const elements = (
  before: readonly Json[],
  after: readonly Json[],
): readonly [ReadonlyMap<string, Json>, ReadonlyMap<string, Json>] => {
  const [a, b] = [byName(before), byName(after)];
  return a === undefined || b === undefined || !inSameOrder(a, b) ? [byPlace(before), byPlace(after)] : [a, b];
};

const isBranch = (value: Json | undefined): boolean =>
  (isObject(value) && Object.keys(value).length > 0) || (isList(value) && value.length > 0);

const below = (
  path: string,
  before: Json | undefined,
  after: Json | undefined,
): readonly (readonly [string, Json | undefined, Json | undefined])[] | undefined => {
  if ((before === undefined || isObject(before)) && (after === undefined || isObject(after))) {
    const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
    return [...names].toSorted().map((name) => [field(path, name), member(before, name), member(after, name)]);
  }
  if ((before === undefined || isList(before)) && (after === undefined || isList(after))) {
    const [a, b] = elements(before ?? [], after ?? []);
    return [...new Set([...a.keys(), ...b.keys()])].map((key) => [path + key, a.get(key), b.get(key)]);
  }
  return undefined;
};

/**
 * Every field in which two values differ, down to the last one that has no fields of its own. Elements of a list are
 * compared by name where all have one and keep their order, otherwise by place.
 */
export const differences = (before: Json | undefined, after: Json | undefined, path = ""): readonly Difference[] => {
  if (equal(before, after)) return [];
  const parts = isBranch(before) || isBranch(after) ? below(path, before, after) : undefined;
  const found = (parts ?? []).flatMap(([at, a, b]) => differences(a, b, at));
  if (found.length > 0) return found;
  // A value of another type, or the same elements in another order.
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
};
