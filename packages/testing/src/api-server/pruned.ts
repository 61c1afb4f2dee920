// Takes from an object what the last apply of a client has set, and its next one does not.
import { asObject, type Json, type JsonObject } from "@janus/types";
import type { Path } from "@janus/controller/core/merge/field-set";
import { allFields, appliedFields, type Fields, keyOf, minus, type Owned, pathOf } from "./all-fields.ts";
import type { FieldType } from "./field-type.ts";
import { partsOf } from "./fields.ts";

/** The paths that lead to these. */
const above = (owned: Owned): Owned =>
  new Set(
    [...owned].flatMap((text) => {
      const path = pathOf(text);
      return path.slice(1).map((_, length) => keyOf(path.slice(0, length + 1)));
    }),
  );

/** These fields, and those around them that the kind names: they go with the last field in them. */
const withNamed = (owned: Owned, fields: Fields): Owned =>
  new Set([...owned, ...[...above(owned)].filter((path) => fields.get(path)?.isNamed === true)]);

/** Null where nothing is left of a map or list. */
const left = (value: Json, type: FieldType, removed: Owned, around: Owned, path: Path): Json => {
  const parts = partsOf(value, type);
  if (parts === undefined) return typeof value === "object" ? null : value;
  const kept = parts.flatMap((part) => {
    const at = [...path, part.element];
    if (removed.has(keyOf(at))) return [];
    return [around.has(keyOf(at)) ? { ...part, value: left(part.value, part.type, removed, around, at) } : part];
  });
  if (kept.length === 0) return null;
  return Array.isArray(value)
    ? kept.map((part) => part.value)
    : Object.fromEntries(kept.map((part) => [part.element.slice(2), part.value]));
};

const without = (object: JsonObject, type: FieldType, removed: Owned): JsonObject =>
  asObject(left(object, type, removed, above(removed), []));

const both = (some: Owned, others: Owned): Owned => new Set([...some].filter((path) => others.has(path)));

/**
 * The object without the fields of the last apply that nobody manages any more.
 * https://github.com/kubernetes-sigs/structured-merge-diff/blob/v6.3.0/merge/update.go
 */
export const pruned = (object: JsonObject, type: FieldType, last: Owned, managed: Owned): JsonObject => {
  if (minus(last, managed).size === 0) return object;
  const fields = allFields(object, type);
  const named = (owned: Owned): Owned => withNamed(owned, fields);
  const here = named(appliedFields(fields));
  const remaining = (removed: Owned): Owned => named(appliedFields(allFields(without(object, type, removed), type)));
  const unowned = minus(minus(here, remaining(named(last))), named(managed));
  return without(object, type, both(minus(here, remaining(unowned)), named(last)));
};
