// Values of templates, with the types of Go that printing, comparing and field access depend on, and the mark of Secrets.

export type Kind = "nil" | "bool" | "int" | "float" | "string" | "bytes" | "list" | "map" | "struct";

/** A field of a struct; embedded: its own fields may be named without it. */
export interface Field {
  readonly name: string;
  readonly value: Value;
  /** The key in JSON. */
  readonly json: string;
  readonly option: "omitempty" | "embedded" | undefined;
}

export type Bare =
  | { readonly kind: "nil" }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "int"; readonly value: number }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "bytes"; readonly value: Uint8Array }
  | { readonly kind: "list"; readonly value: readonly Value[] }
  | { readonly kind: "map"; readonly value: ReadonlyMap<string, Value> }
  | { readonly kind: "struct"; readonly value: readonly Field[] };

/** isTainted: it depends on the value of a Secret. */
export type Value = Bare & { readonly isTainted?: true };

export const NIL: Value = { kind: "nil" };
export const bool = (value: boolean): Value => ({ kind: "bool", value });
export const int = (value: number): Value => ({ kind: "int", value });
export const float = (value: number): Value => ({ kind: "float", value });
export const text = (value: string): Value => ({ kind: "string", value });
export const bytes = (value: Uint8Array): Value => ({ kind: "bytes", value });
export const list = (value: readonly Value[]): Value => ({ kind: "list", value });
export const map = (entries: Iterable<readonly [string, Value]>): Value => ({ kind: "map", value: new Map(entries) });
export const struct = (value: readonly Field[]): Value => ({ kind: "struct", value });
export const field = (name: string, value: Value, json = name, option?: Field["option"]): Field => ({
  name,
  value,
  json,
  option,
});

export const tainted = (value: Value): Value => ({ ...value, isTainted: true });
export const taintedIf = (is: boolean, value: Value): Value =>
  is && value.isTainted !== true ? tainted(value) : value;

/** Whether any part of it depends on a Secret. */
export const hasTaint = (value: Value): boolean => {
  if (value.isTainted === true) return true;
  switch (value.kind) {
    case "list":
      return value.value.some(hasTaint);
    case "map":
      return [...value.value.values()].some(hasTaint);
    case "struct":
      return value.value.some((one) => hasTaint(one.value));
    default:
      return false;
  }
};

/** JSON as the API server's objects are decoded: whole numbers are integers. */
export const fromJson = (value: unknown): Value => {
  if (value === null || value === undefined) return NIL;
  if (typeof value === "boolean") return bool(value);
  if (typeof value === "number") return Number.isInteger(value) ? int(value) : float(value);
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return list(value.map(fromJson));
  return map(Object.entries(value).map(([name, one]) => [name, fromJson(one)] as const));
};

/** Go's truth: not the zero value, and not empty. */
export const isTrue = (value: Value): boolean => {
  switch (value.kind) {
    case "nil":
      return false;
    case "bool":
      return value.value;
    case "int":
    case "float":
      return value.value !== 0;
    case "string":
    case "bytes":
    case "list":
      return value.value.length > 0;
    case "map":
      return value.value.size > 0;
    case "struct":
      return true;
  }
};

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The entries of a map in the order of their keys, as Go ranges over and prints them. */
export const sortedEntries = (entries: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] =>
  [...entries].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** The name of the type, for messages and `typeOf`. */
export const typeName = ({ kind }: Value): string =>
  ({
    nil: "<nil>",
    bool: "bool",
    int: "int64",
    float: "float64",
    string: "string",
    bytes: "[]uint8",
    list: "[]interface {}",
    map: "map[string]interface {}",
    struct: "struct",
  })[kind];
