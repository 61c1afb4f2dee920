// Finds every field of an object, by the path that managedFields has for it.
import { isObject, type Json, type JsonObject } from "@janus/types";
import type { Path } from "@janus/controller/core/merge/field-set";
import type { FieldType } from "./field-type.ts";
import { partsOf } from "./fields.ts";

/** Paths of fields, as text. */
export type Owned = ReadonlySet<string>;

export const keyOf = (path: Path): string => JSON.stringify(path);
export const pathOf = (text: string): Path => JSON.parse(text) as Path;

/** The fields that are not among the others. */
export const minus = (owned: Owned, others: Owned): Owned => new Set([...owned].filter((path) => !others.has(path)));

/** A field: its value if it is managed as a whole. */
export interface Field {
  readonly whole?: Json;
  /** Whether the kind names it. */
  readonly isNamed: boolean;
  /** Whether the client that applies it manages it, and not only the fields in it. */
  readonly isApplied: boolean;
  /** It is there even where nothing sets it. */
  readonly isAlways: boolean;
}

/** Fields by their paths, as text. */
export type Fields = ReadonlyMap<string, Field>;

const isBare = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

const fieldsIn = (value: Json, type: FieldType, path: Path, found: Map<string, Field>): void => {
  for (const part of partsOf(value, type) ?? []) {
    const at = [...path, part.element];
    const isWhole = partsOf(part.value, part.type) === undefined;
    found.set(keyOf(at), {
      ...(isWhole ? { whole: part.value } : {}),
      isNamed: part.isNamed,
      isApplied: isWhole || !part.isNamed || isBare(part.value),
      isAlways: part.type.is === "struct" && part.type.isAlways,
    });
    fieldsIn(part.value, part.type, at, found);
  }
};

export const allFields = (content: JsonObject, type: FieldType): Fields => {
  const found = new Map<string, Field>();
  fieldsIn(content, type, [], found);
  return found;
};

/** The fields that a client manages that applies all these. */
export const appliedFields = (fields: Fields): Owned =>
  new Set([...fields].flatMap(([path, { isApplied }]) => (isApplied ? [path] : [])));
