import { asObject, canonical, isObject, member } from "../kubernetes/json.ts";
import type { Json, JsonObject, ManagedFieldsEntry } from "@janus/types";
import { memoized } from "../kubernetes/memoize.ts";

/**
 * A set of fields, in the very form of `managedFields[].fieldsV1`: a tree of path elements. `f:<name>` is a field,
 * `k:{"name":"web"}` a list item by its keys, `v:"x"` a member of a set, `i:0` an index. A node is in the set when it is
 * empty or says so with ".".
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export type Fields = JsonObject;

/** One field: the elements on the way to it. */
export type Path = readonly string[];

export const none: Fields = {};

const childNames = (node: Fields): readonly string[] => Object.keys(node).filter((name) => name !== ".");

/** Whether the value here is owned as a whole: nobody owns only a part of it. */
export const isWhole = (node: Fields): boolean => {
  for (const name in node) if (name !== "." && Object.hasOwn(node, name)) return false;
  return true;
};

export const child = (node: Fields | undefined, name: string): Fields | undefined => {
  const found = node?.[name];
  return isObject(found) ? found : undefined;
};

export const nodeAt = (fields: Fields, path: Path): Fields | undefined =>
  path.reduce<Fields | undefined>((node, name) => child(node, name), fields);

export const has = (fields: Fields, path: Path): boolean => {
  const node = nodeAt(fields, path);
  return node !== undefined && ("." in node || isWhole(node));
};

/** All at once, since there may be as many sets as there are fields. */
const merged = (nodes: readonly Fields[]): Fields => {
  const [first = none, ...others] = nodes;
  if (others.length === 0) return first;
  const parts = new Map<string, Fields[]>();
  for (const node of nodes)
    for (const name of childNames(node)) {
      const below = child(node, name);
      const others = parts.get(name);
      if (others === undefined) parts.set(name, below === undefined ? [] : [below]);
      else if (below !== undefined) others.push(below);
    }
  if (parts.size === 0) return none;
  const isMember = nodes.some((node) => "." in node || isWhole(node));
  return Object.fromEntries([
    ...(isMember ? [[".", {}] as const] : []),
    ...[...parts].map(([name, all]) => [name, merged(all)] as const),
  ]);
};

export const union = (sets: readonly Fields[]): Fields => {
  // The root is no field of its own: an empty set adds nothing, not even ".".
  const { ".": _, ...fields } = merged(sets.filter((set) => !isWhole(set)));
  return fields;
};

export const fieldsOf = (entries: readonly ManagedFieldsEntry[]): Fields =>
  union(entries.map((entry) => entry.fieldsV1 ?? none));

const keptBelow = (node: Fields, path: Path, keep: (path: Path) => boolean): Fields | undefined => {
  const names = childNames(node);
  const self = ("." in node || names.length === 0) && keep(path);
  const kept: Record<string, Json> = {};
  for (const name of names) {
    const below = keptBelow(asObject(node[name]), [...path, name], keep);
    if (below !== undefined) kept[name] = below;
  }
  if (isWhole(kept)) return self ? none : undefined;
  return self ? { ".": {}, ...kept } : kept;
};

/** The fields of the set that are to be kept. */
export const filter = (fields: Fields, keep: (path: Path) => boolean): Fields => {
  const { ".": _, ...kept } = keptBelow(fields, [], (path) => path.length > 0 && keep(path)) ?? none;
  return kept;
};

const parsed = (element: string): Json => {
  try {
    return JSON.parse(element.slice(2)) as Json;
  } catch {
    return null;
  }
};

/** The names of the keys in a `k:` element. */
export const keysOf = (element: string): readonly string[] =>
  element.startsWith("k:") ? Object.keys(asObject(parsed(element))) : [];

/** How the server merges a list, as far as the fields that anybody owns in it tell. */
export type ListKind = { readonly by: "keys"; readonly keys: readonly string[] } | { readonly by: "value" };

/** `undefined`: as a whole. */
export const listKind = (node: Fields | undefined): ListKind | undefined => {
  const element = childNames(node ?? none).find((name) => name.startsWith("k:") || name.startsWith("v:"));
  if (element === undefined) return undefined;
  return element.startsWith("k:") ? { by: "keys", keys: keysOf(element) } : { by: "value" };
};

/** JSON as the server writes it in an element: keys in order, and some characters escaped, as Go does for the sake of HTML. */
const elementJson = (value: Json): string =>
  (typeof value === "object" ? canonical(value) : JSON.stringify(value)).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** The element that names this item of a list. The server writes the keys in alphabetical order. */
export const elementOf = (kind: ListKind, item: Json): string => {
  if (kind.by === "value") return `v:${elementJson(item)}`;
  const all = asObject(item);
  const pairs = kind.keys.toSorted().flatMap((key) => {
    const value = member(all, key);
    return value === undefined ? [] : [`${elementJson(key)}:${elementJson(value)}`];
  });
  return `k:{${pairs.join(",")}}`;
};

/** The items of a list by the element that names them; of several that it names, the first. */
export const byElement = (kind: ListKind, items: readonly Json[]): ReadonlyMap<string, Json> =>
  new Map(items.map((item) => [elementOf(kind, item), item] as const).toReversed());

const isNamed = (kind: ListKind, item: Json): boolean =>
  kind.by === "value" || kind.keys.every((key) => member(asObject(item), key) !== undefined);

/** Looks for the item that an element names. Made once for each list: it is asked for each field of each of its items. */
const finder = memoized((items: readonly Json[]) => {
  const indices = new Map<string, ReadonlyMap<string, Json>>();
  return (element: string): Json | undefined => {
    for (const index of indices.values()) if (index.has(element)) return index.get(element);
    const kind: ListKind = element.startsWith("v:") ? { by: "value" } : { by: "keys", keys: keysOf(element) };
    const name = JSON.stringify(kind);
    const named = (item: Json): boolean => isNamed(kind, item);
    const index = indices.get(name) ?? byElement(kind, items.filter(named));
    indices.set(name, index);
    // Written as the server writes it, whoever has written it.
    return index.get(elementOf(kind, parsed(element)));
  };
});

const step = (value: unknown, element: string): unknown => {
  if (element.startsWith("f:")) return isObject(value) ? member(value, element.slice(2)) : undefined;
  if (!Array.isArray(value)) return undefined;
  const items = value as readonly Json[];
  return element.startsWith("i:") ? items[Number(element.slice(2))] : finder(items)(element);
};

/** The value of a field; `undefined` where there is none. */
export const valueAt = (object: unknown, path: Path): unknown => path.reduce(step, object);

/** `.spec.containers[name="web"].image`: how messages name a field. */
export const showPath = (path: Path): string =>
  path
    .map((element) => {
      const rest = element.slice(2);
      if (element.startsWith("f:")) return /^[A-Za-z_][\w-]*$/.test(rest) ? `.${rest}` : `[${JSON.stringify(rest)}]`;
      if (!element.startsWith("k:")) return `[${rest}]`;
      const keys = Object.entries(asObject(parsed(element)));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");

/** `.data["version"], .spec.replicas`; the whole object for the empty path. */
export const showPaths = (paths: readonly Path[]): string =>
  paths.map((path) => (path.length === 0 ? "the object" : showPath(path))).join(", ");
