// The model of managedFields: which manager owns a field after each write.
import { asObject, equal, type JsonObject, type KubeObject, type ManagedFieldsEntry } from "@janus/types";
import { has, type Path, union } from "@janus/controller/core/merge/field-set";
import type { FieldType } from "./field-type.ts";
import { merged, normal } from "./fields.ts";
import { allFields, appliedFields, type Field, type Fields, keyOf, minus, type Owned, pathOf } from "./all-fields.ts";
import { pruned } from "./pruned.ts";
import { withSecretData } from "./secret-data.ts";

/**
 * The ownership of fields by managers, and what a write makes of it.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */

type Managers = ReadonlyMap<string, { readonly entry: ManagedFieldsEntry; readonly owned: Owned }>;

/** The object with only the metadata that users set: the rest has no managers. */
export const contentOf = (object: object): JsonObject => {
  const { apiVersion: _, kind: __, metadata, ...rest } = object as JsonObject;
  const { labels, annotations, finalizers, ownerReferences } = asObject(metadata);
  const kept = Object.entries({ labels, annotations, finalizers, ownerReferences }).filter(
    ([, value]) => value !== undefined,
  );
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) as JsonObject };
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

const same = (one: Owned, other: Owned): boolean =>
  one.size === other.size && [...one].every((path) => other.has(path));

const NONE: Owned = new Set();

const sameOwners = (some: Managers, others: Managers): boolean =>
  [...new Set([...some.keys(), ...others.keys()])].every((id) =>
    same(some.get(id)?.owned ?? NONE, others.get(id)?.owned ?? NONE),
  );

/** Null in place of a map or list is that one without anything in it. */
const isChanged = (was: Field | undefined, { whole, isAlways }: Field): boolean => {
  if (was === undefined) return !isAlways;
  return !equal(was.whole, whole) && !(was.whole === undefined && whole === null);
};

/** Gives what a write has changed to its author, and takes it from all others. Only the time of the author is a new one. */
const afterWrite = (
  [before, after]: readonly [Fields, Fields],
  managers: Managers,
  author: ManagedFieldsEntry,
  applied: Owned | undefined,
): Managers => {
  const removed = new Set([...before.keys()].filter((path) => !after.has(path)));
  const changed = new Set([...after].flatMap(([path, field]) => (isChanged(before.get(path), field) ? [path] : [])));
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
  const set = appliedFields(allFields(config, type));
  const last = managers.get(idOf(entry))?.owned ?? NONE;
  const others = [...managers].flatMap(([id, { owned }]) => (id === idOf(entry) ? [] : [...owned]));
  const whole = pruned(asObject(merged(object, config, type)), type, last, new Set([...set, ...others]));
  const content = asObject(normal(whole, type));
  const next = afterWrite([was, allFields(whole, type)], managers, entry, set);
  // Another time alone is no change.
  const isSame = equal(content, object) && sameOwners(former, next);
  return { content, managedFields: isSame ? entries : entriesOf(next) };
};
