// Sets of fields in the format of managedFields: union, difference, intersection and paths.
import { asObject, isObject, type JsonObject, type ManagedFieldsEntry, memoized } from "@janus/types";

/**
 * A set of fields, in the form of `managedFields[].fieldsV1`: a tree of path elements. `f:<name>` is a field,
 * `k:{"name":"web"}` a list item by its keys, `v:"x"` a member of a set, `i:0` an index. A node is in the set if
 * it is empty or contains ".".
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export type Fields = JsonObject;

/** The path of one field. */
export type Path = readonly string[];

export const none: Fields = {};

const childNames = (node: Fields): readonly string[] => {
  const names = Object.keys(node);
  return "." in node ? names.filter((name) => name !== ".") : names;
};

/** Whether the value is managed as a whole: no manager has only a part of it. */
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

/** Whether the field of this node is in the set, and not only on the way to others. */
const isMember = (node: Fields): boolean => "." in node || isWhole(node);

export const has = (fields: Fields, path: Path): boolean => {
  const node = nodeAt(fields, path);
  return node !== undefined && isMember(node);
};

/** Whether the other adds nothing to the first. */
export const holds = (first: Fields, other: Fields): boolean => {
  const names = childNames(other);
  if ((names.length === 0 || "." in other) && !isMember(first)) return false;
  return names.every((name) => {
    const below = child(first, name);
    return below !== undefined && holds(below, child(other, name) ?? none);
  });
};

/**
 * All at once, since there may be as many sets as there are fields. The very first of them where the others add nothing to
 * it, which is soon found out: many own the same.
 */
const merged = (nodes: readonly Fields[]): Fields => {
  const [first = none] = nodes;
  if (nodes.every((node) => node === first || holds(first, node))) return first;
  const parts = new Map<string, Fields[]>();
  let isInSet = false;
  for (const node of nodes) {
    const names = childNames(node);
    isInSet ||= names.length === 0 || "." in node;
    for (const name of names) {
      const below = child(node, name);
      const others = parts.get(name);
      if (others === undefined) parts.set(name, below === undefined ? [] : [below]);
      else if (below !== undefined) others.push(below);
    }
  }
  return Object.fromEntries([
    ...(isInSet ? [[".", {}] as const] : []),
    ...[...parts].map(([name, all]) => [name, merged(all)] as const),
  ]);
};

/** The root is no field of its own: an empty set holds nothing, not even ".". */
const withoutRoot = (fields: Fields): Fields => {
  if (!("." in fields)) return fields;
  const { ".": _, ...children } = fields;
  return children;
};

export const union = (sets: readonly Fields[]): Fields => withoutRoot(merged(sets.filter((set) => !isWhole(set))));

/** The set of just these fields. */
export const setOf = (paths: readonly Path[]): Fields =>
  union(paths.map((path) => path.reduceRight<Fields>((below, element) => ({ [element]: below }), none)));

/** Found out once: V8 goes through all names of an object for the first of them. */
const isMemberOnce = memoized(isMember);

/** Whether the first has one of the fields of the other, or a part of it. */
export const meets = (first: Fields, other: Fields): boolean =>
  isMemberOnce(other) ||
  childNames(first).some((name) => {
    const [one, two] = [child(first, name), child(other, name)];
    return one !== undefined && two !== undefined && meets(one, two);
  });

export const fieldsOf = memoized(
  (entries: readonly ManagedFieldsEntry[]): Fields => union(entries.map((entry) => entry.fieldsV1 ?? none)),
);

/** A structure that is descended together with a set, and whether the field that it has come to is to be kept. */
export interface Descent<At> {
  readonly into: (at: At, element: string) => At;
  readonly keeps: (at: At) => boolean;
  /** Whether it and all below it are known to be kept, so that none of these need be gone down into. */
  readonly keepsAll?: (at: At) => boolean;
}

/** The very node where all of it is kept. */
const keptOf = <At>(node: Fields, at: At, descent: Descent<At>): Fields | undefined => {
  if (descent.keepsAll?.(at) === true) return node;
  const names = childNames(node);
  const isKept = (names.length === 0 || "." in node) && descent.keeps(at);
  if (names.length === 0) return isKept ? node : undefined;
  const kept = names.map((name) => keptOf(asObject(node[name]), descent.into(at, name), descent));
  if (isKept === "." in node && names.every((name, index) => node[name] === kept[index])) return node;
  const children = Object.fromEntries(
    names.flatMap((name, index) => {
      const below = kept[index];
      return below === undefined ? [] : [[name, below] as const];
    }),
  );
  if (isWhole(children)) return isKept ? none : undefined;
  return isKept ? { ".": {}, ...children } : children;
};

/** The fields of the set that are to be kept, by what is found at each of them. */
export const filterAlong = <At>(fields: Fields, root: At, descent: Descent<At>): Fields =>
  withoutRoot(keptOf(fields, root, descent) ?? none);

/** The fields of the set that are to be kept, by their paths. */
export const filter = (fields: Fields, keeps: (path: Path) => boolean): Fields =>
  filterAlong<Path>(fields, [], { into: (path, element) => [...path, element], keeps });

/** The fields of the first set that are not in the other. */
export const without = (fields: Fields, other: Fields): Fields =>
  filterAlong<Fields | undefined>(fields, other, {
    into: child,
    keeps: (there) => there !== undefined && !isMember(there),
    keepsAll: (there) => there === undefined,
  });
