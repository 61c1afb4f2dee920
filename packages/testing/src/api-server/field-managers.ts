// The model of managedFields: which manager owns a field after each write.
import {
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
} from "@janus/types";
import { has, type Path, union } from "@janus/controller/core/merge/field-set";
import type { FieldType } from "./field-type.ts";
import { merged, normal, partsOf } from "./fields.ts";
import { withSecretData } from "./secret-data.ts";

/**
 * The ownership of fields by managers, and what a write makes of it.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */

/** Paths of fields, as text. */
type Owned = ReadonlySet<string>;
type Managers = ReadonlyMap<string, { readonly entry: ManagedFieldsEntry; readonly owned: Owned }>;

const keyOf = (path: Path): string => JSON.stringify(path);
const pathOf = (text: string): Path => JSON.parse(text) as Path;

/** A field: its value if it is managed as a whole. */
interface Field {
  readonly whole?: Json;
  /** Whether the client that applies it manages it, and not only the fields in it. */
  readonly isApplied: boolean;
  /** It is there even where nothing sets it. */
  readonly isAlways: boolean;
}

const isBare = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

/** Every field of a value, by its path. */
const fieldsIn = (value: Json, type: FieldType, path: Path, found: Map<string, Field>): void => {
  for (const part of partsOf(value, type) ?? []) {
    const at = [...path, part.element];
    const isWhole = partsOf(part.value, part.type) === undefined;
    found.set(keyOf(at), {
      ...(isWhole ? { whole: part.value } : {}),
      isApplied: isWhole || !part.isNamed || isBare(part.value),
      isAlways: part.type.is === "struct" && part.type.isAlways,
    });
    fieldsIn(part.value, part.type, at, found);
  }
};

/** The object with only the metadata that users set: the rest has no managers. */
export const contentOf = (object: object): JsonObject => {
  const { apiVersion: _, kind: __, metadata, ...rest } = object as JsonObject;
  const { labels, annotations, finalizers, ownerReferences } = asObject(metadata);
  const kept = Object.entries({ labels, annotations, finalizers, ownerReferences }).filter(
    ([, value]) => value !== undefined,
  );
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) as JsonObject };
};

const allFields = (content: JsonObject, type: FieldType): ReadonlyMap<string, Field> => {
  const found = new Map<string, Field>();
  fieldsIn(content, type, [], found);
  return found;
};

const idOf = ({ manager, operation, subresource }: ManagedFieldsEntry): string =>
  JSON.stringify([manager, operation, subresource]);

const pathsIn = (node: JsonObject, path: Path, all: JsonObject): readonly Path[] => [
  ...(path.length > 0 && has(all, path) ? [path] : []),
  ...Object.entries(node).flatMap(([name, below]) =>
    name === "." ? [] : pathsIn(asObject(below), [...path, name], all),
  ),
];

const managersOf = (entries: readonly ManagedFieldsEntry[]): Managers =>
  new Map(
    entries.map((entry) => {
      const { fieldsV1 = {} } = entry;
      return [idOf(entry), { entry, owned: new Set(pathsIn(fieldsV1, [], fieldsV1).map(keyOf)) }];
    }),
  );

const asFields = (owned: Owned): JsonObject =>
  union([...owned].map((text) => pathOf(text).reduceRight<JsonObject>((below, name) => ({ [name]: below }), {})));

const textsOf = ({ operation, time = "", manager = "" }: ManagedFieldsEntry): readonly string[] => [
  operation ?? "",
  time,
  manager,
];

/** https://github.com/kubernetes/apimachinery/blob/v0.34.0/pkg/util/managedfields/internal/managedfields.go */
const inOrder = (one: ManagedFieldsEntry, other: ManagedFieldsEntry): number => {
  const others = textsOf(other);
  for (const [at, text] of textsOf(one).entries()) if (text !== others[at]) return text < (others[at] ?? "") ? -1 : 1;
  return 0;
};

const entriesOf = (managers: Managers): readonly ManagedFieldsEntry[] =>
  [...managers.values()]
    .flatMap(({ entry, owned }) => (owned.size === 0 ? [] : [{ ...entry, fieldsV1: asFields(owned) }]))
    .toSorted(inOrder);

const minus = (owned: Owned, paths: ReadonlySet<string>): Owned =>
  new Set([...owned].filter((path) => !paths.has(path)));

const same = (one: Owned, other: Owned): boolean =>
  one.size === other.size && [...one].every((path) => other.has(path));

const NONE: Owned = new Set();

const sameOwners = (some: Managers, others: Managers): boolean =>
  [...new Set([...some.keys(), ...others.keys()])].every((id) =>
    same(some.get(id)?.owned ?? NONE, others.get(id)?.owned ?? NONE),
  );

/** Gives what a write has changed to its author, and takes it from all others. Only the time of the author is a new one. */
const afterWrite = (
  [before, after]: readonly [ReadonlyMap<string, Field>, ReadonlyMap<string, Field>],
  managers: Managers,
  author: ManagedFieldsEntry,
  applied: Owned | undefined,
): Managers => {
  const removed = new Set([...before.keys()].filter((path) => !after.has(path)));
  const changed = new Set(
    [...after].flatMap(([path, { whole, isAlways }]) => {
      const was = before.get(path);
      const isNew = was === undefined && !isAlways;
      return isNew || (was !== undefined && !equal(was.whole, whole)) ? [path] : [];
    }),
  );
  const former = managers.get(idOf(author));
  const own = former?.owned ?? NONE;
  const owned = applied ?? new Set([...minus(own, removed), ...changed]);
  const others = [...managers].map(
    ([id, { entry, owned }]) => [id, { entry, owned: minus(minus(owned, changed), removed) }] as const,
  );
  const entry = former !== undefined && changed.size === 0 && same(own, owned) ? former.entry : author;
  return new Map([...others, [idOf(author), { entry, owned }]]);
};

/** The writer, and the time of the write. */
export interface Author {
  readonly manager: string;
  readonly apiVersion: string;
  /** RFC 3339. */
  readonly time: string;
}

const entryOf = ({ manager, apiVersion, time }: Author, operation: "Apply" | "Update"): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion,
  time,
  fieldsType: "FieldsV1",
});

/** The result of a write: the fields of the object, and who manages them. */
export interface Written {
  readonly content: JsonObject;
  readonly managedFields: readonly ManagedFieldsEntry[];
}

const EMPTY: JsonObject = {};

/**
 * A POST or PUT. Managers that the body names replace the live ones. Who clears them with `[{}]` books nothing; nor does a
 * PUT of an object without any.
 */
export const written = (live: KubeObject | undefined, body: object, type: FieldType, author: Author): Written => {
  const content = asObject(normal(contentOf(withSecretData(body)), type));
  const { managedFields: sent = [] } = (body as Partial<KubeObject>).metadata ?? {};
  if (sent.length === 1 && equal(sent[0], {})) return { content, managedFields: [] };
  const former = managersOf(live?.metadata.managedFields ?? []);
  const managers = sent.length === 0 ? former : managersOf(sent);
  if (live !== undefined && managers.size === 0) return { content, managedFields: [] };
  const fields = [allFields(live === undefined ? EMPTY : contentOf(live), type), allFields(content, type)] as const;
  const next = afterWrite(fields, managers, entryOf(author, "Update"), undefined);
  return { content, managedFields: entriesOf(next) };
};

/** The value without these fields; of a map or list, if nothing is left in it. */
const without = (value: Json, type: FieldType, dropped: ReadonlySet<string>, path: Path): Json | undefined => {
  const parts = partsOf(value, type);
  if (parts === undefined) return dropped.has(keyOf(path)) ? undefined : value;
  const left = parts.map((part) => ({
    ...part,
    value: without(part.value, part.type, dropped, [...path, part.element]),
  }));
  const kept = left.flatMap((part) => (part.value === undefined ? [] : [{ ...part, value: part.value }]));
  // Only the keys of an item may be left, which have no manager any more.
  if (dropped.has(keyOf(path)) && (kept.length === 0 || (path.at(-1)?.startsWith("k:") ?? false))) return undefined;
  return Array.isArray(value)
    ? kept.map((part) => part.value)
    : Object.fromEntries(kept.map((part) => [part.element.slice(2), part.value]));
};

/**
 * A server-side apply with force: whoever else manages what it sets manages it no longer. Its author manages what it sets also
 * where the API server does not keep it, as an empty map.
 */
export const applied = (live: KubeObject | undefined, body: object, type: FieldType, author: Author): Written => {
  const config = contentOf(withSecretData(body));
  const object = live === undefined ? EMPTY : contentOf(live);
  const { managedFields: entries = [] } = live?.metadata ?? {};
  const former = managersOf(entries);
  const was = allFields(object, type);
  // The fields of an object without managers are given to one at the first apply.
  const managers =
    live === undefined || former.size > 0
      ? former
      : afterWrite(
          [new Map(), was],
          former,
          entryOf({ ...author, manager: "before-first-apply" }, "Update"),
          undefined,
        );
  const entry = entryOf(author, "Apply");
  const set = new Set([...allFields(config, type)].flatMap(([path, { isApplied }]) => (isApplied ? [path] : [])));
  const others = [...managers].flatMap(([id, { owned }]) => (id === idOf(entry) ? [] : [...owned]));
  const dropped = minus(minus(managers.get(idOf(entry))?.owned ?? NONE, set), new Set(others));
  const whole = asObject(without(merged(object, config, type), type, dropped, []));
  const content = asObject(normal(whole, type));
  const next = afterWrite([was, allFields(whole, type)], managers, entry, set);
  // Another time alone is no change.
  const isSame = equal(content, object) && sameOwners(former, next);
  return { content, managedFields: isSame ? entries : entriesOf(next) };
};
