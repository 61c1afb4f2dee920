import { has, nodeAt, type Path, union } from "../../../packages/controller/src/core/merge/field-set.ts";
import { fieldValue } from "../../../packages/controller/src/core/merge/field-value.ts";
import {
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
} from "@janus/types";
import { nodes } from "./arbitrary-fields.ts";
import { edited } from "./edit.ts";

/**
 * How the API server books who owns what, as far as restoration relies on it; `tests/restore` shows that the real one does
 * the same. Objects are of one made-up kind: every list but `args` is merged.
 */

type Owned = ReadonlySet<string>;
type Books = ReadonlyMap<string, { readonly entry: ManagedFieldsEntry; readonly owned: Owned }>;

const key = (path: Path): string => JSON.stringify(path);
const pathOf = (text: string): Path => JSON.parse(text) as Path;

const KEYS: Readonly<Record<string, string>> = { containers: "name" };
const STRUCTS: readonly string[] = ["metadata", "spec"];

const isBare = (value: Json): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

/** Every path of an object, and whether an Apply owns it: containers it does not, except for items of lists and empty ones. */
const pathsOf = (
  value: Json | undefined,
  path: Path = [],
): readonly { readonly path: Path; readonly leaf: boolean }[] => {
  const name = path.at(-1)?.slice(2) ?? "";
  const isItem = path.at(-1)?.startsWith("k:") === true;
  const container =
    path.length === 0 || STRUCTS.includes(name)
      ? []
      : [{ path, leaf: isItem || (value !== undefined && isBare(value)) }];
  if (Array.isArray(value) && name !== "args") {
    const by = KEYS[name];
    return [
      ...container,
      ...value.flatMap((item: Json) =>
        by === undefined
          ? [{ path: [...path, `v:${JSON.stringify(item)}`], leaf: true }]
          : pathsOf(item, [...path, `k:${JSON.stringify({ [by]: asObject(item)[by] })}`]),
      ),
    ];
  }
  if (isObject(value))
    return [...container, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, `f:${name}`]))];
  return value === undefined ? [] : [{ path, leaf: true }];
};

/** Of the metadata only what people set. */
const content = (object: JsonObject): JsonObject => {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const { labels, annotations, finalizers } = asObject(metadata);
  const kept = Object.entries({ labels, annotations, finalizers }).filter(([, value]) => value !== undefined);
  return { ...rest, metadata: Object.fromEntries(kept) as JsonObject };
};

const id = (entry: ManagedFieldsEntry): string => JSON.stringify([entry.manager, entry.operation]);

const openBooks = (entries: readonly ManagedFieldsEntry[]): Books =>
  new Map(
    entries.map((entry) => {
      const set = entry.fieldsV1 ?? {};
      return [
        id(entry),
        {
          entry,
          owned: new Set(
            nodes(set)
              .filter((path) => has(set, path))
              .map(key),
          ),
        },
      ];
    }),
  );

const tree = (owned: Owned): JsonObject =>
  union([...owned].map((text) => pathOf(text).reduceRight<JsonObject>((below, name) => ({ [name]: below }), {})));

let clock = 0;

const close = (former: Books, books: Books): readonly ManagedFieldsEntry[] =>
  [...books.entries()]
    .filter(([, { owned }]) => owned.size > 0)
    .map(([name, { entry, owned }]) => {
      const fieldsV1 = tree(owned);
      const was = former.get(name);
      if (was?.entry === entry && equal(tree(was.owned), fieldsV1)) return entry;
      return { ...entry, fieldsV1 };
    });

const without = (owned: Owned, paths: ReadonlySet<string>): Owned =>
  new Set([...owned].filter((path) => !paths.has(path)));

/** Empty maps and lists do not stay, and neither does `false`. */
const pruned = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const inner = STRUCTS.includes(name) && isObject(value) ? pruned(value) : value;
      return inner === false || (isBare(inner) && name !== "args" && name !== "metadata") ? [] : [[name, inner]];
    }),
  );

/** Books what a write changed to its author, and takes it from all others. */
const book = (
  live: JsonObject,
  next: JsonObject,
  books: Books,
  author: ManagedFieldsEntry,
  applied: Owned | undefined,
): Books => {
  const before = new Set(pathsOf(content(live)).map(({ path }) => key(path)));
  const after = pathsOf(content(next)).filter(({ path }) => path.length > 0);
  const there = new Set(after.map(({ path }) => key(path)));
  const removed = new Set([...before].filter((path) => !there.has(path)));
  const changed = new Set(
    after.flatMap(({ path }) => {
      const was = fieldValue(live, path);
      const is = fieldValue(next, path);
      const leaf = !isObject(is) && (!Array.isArray(is) || path.at(-1) === "f:args");
      return !before.has(key(path)) || (leaf && !equal(was, is)) ? [key(path)] : [];
    }),
  );
  const own = books.get(id(author))?.owned ?? new Set();
  const owned = applied ?? new Set([...without(own, removed), ...changed]);
  return new Map([
    ...[...books].map(
      ([name, { entry, owned }]) => [name, { entry, owned: without(without(owned, changed), removed) }] as const,
    ),
    // With another value, the entry has the same fields, but another time.
    ...(changed.size === 0 && equal([...own].toSorted(), [...owned].toSorted())
      ? books.has(id(author))
        ? [[id(author), { entry: books.get(id(author))?.entry ?? author, owned }] as const]
        : []
      : [[id(author), { entry: author, owned }] as const]),
  ]);
};

const entryOf = (manager: string, operation: "Apply" | "Update"): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  time: `t${(clock += 1)}`,
});

const stored = (live: KubeObject, next: JsonObject, managedFields: readonly ManagedFieldsEntry[]): KubeObject => {
  const { managedFields: _, ...metadata } = live.metadata;
  const fields = pruned(content(next));
  return {
    ...fields,
    apiVersion: live.apiVersion,
    kind: live.kind,
    metadata: {
      name: metadata.name ?? "",
      uid: metadata.uid ?? "",
      resourceVersion: String(Number(metadata.resourceVersion) + 1),
      ...asObject(fields["metadata"]),
      ...(managedFields.length === 0 ? {} : { managedFields }),
    },
  };
};

/** POST: all of it is booked to its author. */
export const post = (object: KubeObject, manager: string): KubeObject => {
  const next = pruned(content(object as unknown as JsonObject));
  const books = book({}, next, new Map(), entryOf(manager, "Update"), undefined);
  return stored(object, next, close(new Map(), books));
};

/** PUT. An empty managedFields counts as none, one with a single empty entry clears them; without any, nothing is booked. */
export const put = (live: KubeObject, body: object, manager: string): KubeObject => {
  const next = body as KubeObject;
  const sent = next.metadata.managedFields ?? [];
  if (sent.length === 1 && equal(sent[0], {})) return stored(live, next as unknown as JsonObject, []);
  const former = openBooks(live.metadata.managedFields ?? []);
  const books = sent.length === 0 ? former : openBooks(sent);
  if (books.size === 0) return stored(live, next as unknown as JsonObject, []);
  const booked = book(
    live as unknown as JsonObject,
    pruned(next as unknown as JsonObject),
    books,
    entryOf(manager, "Update"),
    undefined,
  );
  return stored(live, next as unknown as JsonObject, close(former, booked));
};

/** Server-side apply, forced. */
export const apply = (live: KubeObject, body: object, manager: string): KubeObject => {
  const config = content(body as JsonObject);
  const object = live as unknown as JsonObject;
  const former = openBooks(live.metadata.managedFields ?? []);
  // An object that nobody has applied to and that has no books is booked to one manager first.
  const books = former.size > 0 ? former : book({}, object, former, entryOf("before-first-apply", "Update"), undefined);
  const author = entryOf(manager, "Apply");
  const wanted = pathsOf(config).filter(({ path, leaf }) => path.length > 0 && leaf);
  const applied = new Set(wanted.map(({ path }) => key(path)));
  const dropped = [...(books.get(id(author))?.owned ?? [])].filter(
    (path) => !applied.has(path) && ![...books].some(([name, { owned }]) => name !== id(author) && owned.has(path)),
  );
  const next = edited(object, [
    ...dropped.map((text) => ({ path: pathOf(text), value: undefined })),
    ...wanted
      .filter(({ path }) => !path.at(-1)?.startsWith("k:"))
      .map(({ path }) => ({ path, value: fieldValue(config, path) as Json })),
  ]);
  return stored(live, next, close(former, book(object, next, books, author, applied)));
};

/** Who owns this field. */
export const ownersOf = (object: KubeObject, path: Path): readonly string[] =>
  (object.metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => nodeAt(fieldsV1 ?? {}, path) !== undefined)
    .map(id)
    .toSorted();
