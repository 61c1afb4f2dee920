// How the API server merges each field, in the notation of built-in-types.ts.
import { asObject, isObject, type Json } from "@janus/types";
import { BUILT_IN_TYPES } from "./built-in-types.ts";

/**
 * How the API server merges a field, and so what of it can have a manager of its own.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
export type FieldType =
  /** Merged as a whole. */
  | { readonly is: "leaf" }
  /** Merged by its value: objects by their fields, everything else as a whole. */
  | { readonly is: "deduced" }
  /** Merged by fields that the kind names. */
  | Struct
  /** Merged by keys that users choose. */
  | { readonly is: "map"; readonly of: FieldType }
  /** A list whose values are members. */
  | { readonly is: "set" }
  /** A list whose items have keys. */
  | { readonly is: "list"; readonly keys: readonly Key[]; readonly of: FieldType };

interface Struct {
  readonly is: "struct";
  /** Whether it is there even where nothing sets it. */
  readonly isAlways: boolean;
  /** Whether it leaves out empty maps and lists, as the Go types of the API server do. */
  readonly omitsEmpty: boolean;
  readonly field: (name: string) => FieldType;
}

export interface Key {
  readonly name: string;
  /** The value of the key where the item does not give it. */
  readonly fallback?: Json;
}

export const deduced: FieldType = { is: "deduced" };
const leaf: FieldType = { is: "leaf" };
const set: FieldType = { is: "set" };

const keyOf = (text: string): Key => {
  const [name = "", fallback] = text.split("=");
  return fallback === undefined ? { name } : { name, fallback };
};

/**
 * Reads the notation of `built-in-types.ts`:
 *
 *   ""             deduced from the value
 *   "="            as a whole
 *   "Type"         an object of that type; "Type!": one that is always there
 *   "{Type}"       a map
 *   "<>"           a set
 *   "<a,b=X>Type"  a list by the keys a and b, which is X by default
 */
const typeOf = (text: string): FieldType => {
  if (text === "") return deduced;
  if (text === "=") return leaf;
  if (text === "<>") return set;
  if (text.startsWith("{")) return { is: "map", of: typeOf(text.slice(1, -1)) };
  const [, keys, item = ""] = /^<(.+)>(.*)$/.exec(text) ?? [];
  if (keys !== undefined) return { is: "list", keys: keys.split(",").map(keyOf), of: typeOf(item) };
  const isAlways = text.endsWith("!");
  const fields = BUILT_IN_TYPES[isAlways ? text.slice(0, -1) : text] ?? {};
  return {
    is: "struct",
    isAlways,
    omitsEmpty: true,
    field: (name) => typeOf(Object.hasOwn(fields, name) ? (fields[name] ?? "") : ""),
  };
};

/** A built-in type, such as `core.v1.ConfigMap`. */
export const builtInType = (name: string): FieldType => typeOf(`${name}!`);

export const metadataType = typeOf("meta.v1.ObjectMeta!");

/** Objects of a kind whose schema is not known: all but the metadata is deduced. */
export const unknownType: FieldType = {
  is: "struct",
  isAlways: true,
  omitsEmpty: false,
  field: (name) => (name === "metadata" ? metadataType : deduced),
};

/** The type that the schema of a CustomResourceDefinition gives. */
const ofSchema = (value: Json | undefined): FieldType => {
  const schema = asObject(value);
  if (schema["x-kubernetes-map-type"] === "atomic") return leaf;
  const { properties, additionalProperties } = schema;
  if (isObject(properties))
    return {
      is: "struct",
      isAlways: false,
      omitsEmpty: false,
      field: (name) => (Object.hasOwn(properties, name) ? ofSchema(properties[name]) : deduced),
    };
  if (isObject(additionalProperties)) return { is: "map", of: ofSchema(additionalProperties) };
  if (schema["x-kubernetes-list-type"] === "set") return set;
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-list-type"] !== "map" || !Array.isArray(keys)) return deduced;
  const item = asObject(schema["items"]);
  return {
    is: "list",
    of: ofSchema(item),
    keys: keys.map((name) => {
      const fallback = asObject(asObject(item["properties"])[String(name)])["default"];
      return { name: String(name), ...(fallback === undefined ? {} : { fallback }) };
    }),
  };
};

/** Objects of a kind that a CustomResourceDefinition describes. */
export const customType = (openAPIV3Schema: Json | undefined): FieldType => {
  const type = ofSchema(openAPIV3Schema);
  return {
    is: "struct",
    isAlways: true,
    omitsEmpty: false,
    field: (name) => (name === "metadata" ? metadataType : type.is === "struct" ? type.field(name) : deduced),
  };
};
