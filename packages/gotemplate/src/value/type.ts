// Go's types, as far as values in templates have them: functions ask for them, and zero values depend on them.

export type IntegerKind =
  | "int"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64";

export interface Field {
  readonly name: string;
  readonly type: Type;
  /** The name in JSON; "-" for none. Without it, that of Go. */
  readonly json?: string;
  readonly omits?: "empty" | "zero";
  /** Its fields are promoted. */
  readonly isEmbedded?: boolean;
}

export type Type =
  | { readonly kind: "bool" | "float64" | "any" | "time" | "semver" }
  | { readonly kind: IntegerKind }
  | { readonly kind: "string"; readonly name?: string }
  | { readonly kind: "slice"; readonly element: Type; readonly name?: string }
  | { readonly kind: "map"; readonly element: Type; readonly name?: string }
  | { readonly kind: "pointer"; readonly element: Type }
  | StructType;

export interface StructType {
  readonly kind: "struct";
  readonly name: string;
  readonly fields: readonly Field[];
}

export const ANY: Type = { kind: "any" };
export const BOOL: Type = { kind: "bool" };
export const INT: Type = { kind: "int" };
export const INT64: Type = { kind: "int64" };
export const UINT8: Type = { kind: "uint8" };
export const FLOAT64: Type = { kind: "float64" };
export const STRING: Type = { kind: "string" };
export const TIME: Type = { kind: "time" };
export const SEMVER: Type = { kind: "semver" };
export const sliceOf = (element: Type): Type & { readonly kind: "slice" } => ({ kind: "slice", element });
export const mapOf = (element: Type): Type & { readonly kind: "map" } => ({ kind: "map", element });
export const pointerTo = (element: Type): Type & { readonly kind: "pointer" } => ({ kind: "pointer", element });

/** As Go writes it. */
export const nameOfType = (type: Type): string => {
  switch (type.kind) {
    case "any":
      return "interface {}";
    case "time":
      return "time.Time";
    case "semver":
      return "semver.Version";
    case "string":
      return type.name ?? "string";
    case "slice":
      return type.name ?? `[]${nameOfType(type.element)}`;
    case "map":
      return type.name ?? `map[string]${nameOfType(type.element)}`;
    case "pointer":
      return `*${nameOfType(type.element)}`;
    case "struct":
      return type.name;
    case "bool":
    case "float64":
    case "int":
    case "int16":
    case "int32":
    case "int64":
    case "int8":
    case "uint":
    case "uint16":
    case "uint32":
    case "uint64":
    case "uint8":
    default:
      return type.kind;
  }
};

/** Whether both are one type: of structs, and of named ones, the name decides. */
export const isSameType = (a: Type, b: Type): boolean =>
  a === b || (a.kind === b.kind && nameOfType(a) === nameOfType(b));
