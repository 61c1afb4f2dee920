// Values of Go, with their types and whether they are tainted.
import type { GoTime } from "../time/go-time.ts";
import { bytesOf, codesOf } from "./bytes.ts";
import {
  ANY,
  FLOAT64,
  INT,
  INT64,
  type IntegerKind,
  mapOf,
  pointerTo,
  SEMVER,
  STRING,
  type StructType,
  sliceOf,
  TIME,
  type Type,
  UINT8,
} from "./type.ts";

/** Maps are shared by reference: `set` of sprig changes what all see. */
export interface Entries {
  map: Map<string, Value>;
  /** Which keys there are depends on tainted values. */
  isTainted: boolean;
}

/** A version as Masterminds/semver has read it. */
export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: string;
  readonly metadata: string;
  readonly original: string;
}

interface Marked {
  /** It, with all that it contains, depends on a secret. */
  readonly isTainted?: true;
}

/** `none` is the absence of a value (nothing is under this key), `nil` an interface that holds nothing. */
export type Value = Marked &
  (
    | { readonly is: "none" | "nil" }
    | { readonly is: "bool"; readonly value: boolean }
    | { readonly is: "int"; readonly type: Type & { readonly kind: IntegerKind }; readonly value: bigint }
    | { readonly is: "float"; readonly value: number }
    | StringValue
    | BytesValue
    | ListValue
    | MapValue
    | StructValue
    | { readonly is: "pointer"; readonly type: Type & { readonly kind: "pointer" }; readonly to: Value | undefined }
    | { readonly is: "time"; readonly value: GoTime }
    | { readonly is: "semver"; readonly value: Version }
  );

export interface StringValue extends Marked {
  readonly is: "string";
  readonly type: Type & { readonly kind: "string" };
  /** Bytes, see bytes.ts. */
  readonly value: string;
}
/** A slice of uint8, whose elements are the code units. */
export interface BytesValue extends Marked {
  readonly is: "bytes";
  readonly value: string | undefined;
}
export interface ListValue extends Marked {
  readonly is: "list";
  readonly type: Type & { readonly kind: "slice" };
  /** Nothing is a nil slice. */
  readonly items: readonly Value[] | undefined;
}
export interface MapValue extends Marked {
  readonly is: "map";
  readonly type: Type & { readonly kind: "map" };
  readonly entries: Entries | undefined;
}
export interface StructValue extends Marked {
  readonly is: "struct";
  readonly type: StructType;
  /** In the order of the fields of its type. */
  readonly fields: readonly Value[];
}

export const NONE: Value = { is: "none" };
export const NIL: Value = { is: "nil" };
const TRUE: Value = { is: "bool", value: true };
const FALSE: Value = { is: "bool", value: false };

export const ofBool = (value: boolean): Value => (value ? TRUE : FALSE);
export const ofInteger = (type: Type & { readonly kind: IntegerKind }, value: bigint): Value => ({
  is: "int",
  type,
  value,
});
export const ofInt = (value: bigint | number): Value => ({
  is: "int",
  type: INT as Type & { readonly kind: IntegerKind },
  value: BigInt.asIntN(64, BigInt(value)),
});
export const ofInt64 = (value: bigint | number): Value => ({
  is: "int",
  type: INT64 as Type & { readonly kind: IntegerKind },
  value: BigInt.asIntN(64, BigInt(value)),
});
export const ofFloat = (value: number): Value => ({ is: "float", value });
/** Of bytes (see bytes.ts), not of a text. */
export const ofString = (value: string): Value => ({ is: "string", type: STRING as StringValue["type"], value });
export const ofBytes = (value: string | undefined): Value => ({ is: "bytes", value });
export const ofList = (items: readonly Value[] | undefined, element: Type = ANY): Value => ({
  is: "list",
  type: sliceOf(element),
  items,
});
export const ofMap = (map: Map<string, Value> | undefined, element: Type = ANY): MapValue => ({
  is: "map",
  type: mapOf(element),
  entries: map === undefined ? undefined : { map, isTainted: false },
});
export const ofTime = (value: GoTime): Value => ({ is: "time", value });

/** The type that a value has in Go; nothing of what is no value. */
export const typeOf = (value: Value): Type | undefined => {
  switch (value.is) {
    case "none":
      return undefined;
    case "nil":
      return ANY;
    case "bool":
      return { kind: "bool" };
    case "float":
      return FLOAT64;
    case "bytes":
      return sliceOf(UINT8);
    case "time":
      return TIME;
    case "semver":
      return pointerTo(SEMVER);
    case "int":
    case "list":
    case "map":
    case "pointer":
    case "string":
    case "struct":
    default:
      return value.type;
  }
};

const EPOCH_OF_GO: GoTime = { seconds: -62_135_596_800n, nanos: 0, zone: "UTC", offset: 0 };

/** What a variable of this type holds at first. */
export const zeroOf = (type: Type): Value => {
  switch (type.kind) {
    case "any":
      return NIL;
    case "bool":
      return FALSE;
    case "float64":
      return ofFloat(0);
    case "string":
      return { is: "string", type, value: "" };
    case "slice":
      return type.element.kind === "uint8" ? ofBytes(undefined) : { is: "list", type, items: undefined };
    case "map":
      return { is: "map", type, entries: undefined };
    case "pointer":
      return { is: "pointer", type, to: undefined };
    case "struct":
      return { is: "struct", type, fields: type.fields.map((field) => zeroOf(field.type)) };
    case "time":
      return ofTime(EPOCH_OF_GO);
    case "semver":
      return NIL;
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
      return ofInteger(type, 0n);
  }
};

/** Marks a value, and with it all that it contains. */
export const taint = (value: Value): Value => (value.isTainted ? value : { ...value, isTainted: true });
export const taintIf = (isTainted: boolean, value: Value): Value => (isTainted ? taint(value) : value);

/** Whether what it is, without what it contains, depends on tainted values: its length, its keys, whether it is empty. */
export const isTainted = (value: Value): boolean =>
  value.isTainted === true || (value.is === "map" && value.entries?.isTainted === true);

/** What is in a list, or in bytes; nothing for what is neither. */
export const itemsOf = (value: Value): readonly Value[] | undefined => {
  if (value.is === "list") return value.isTainted ? (value.items ?? []).map(taint) : (value.items ?? []);
  if (value.is !== "bytes") return undefined;
  return codesOf(value.value ?? "").map((code) =>
    taintIf(value.isTainted === true, ofInteger(UINT8 as Type & { readonly kind: IntegerKind }, BigInt(code))),
  );
};

/** Entries in the order in which Go shows them. */
export const sortedEntries = (value: MapValue): readonly (readonly [string, Value])[] =>
  [...(value.entries?.map ?? [])].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

const textOfType = STRING as StringValue["type"];

/** A text. */
export const str = (text: string, typeName?: string): Value => ({
  is: "string",
  type: typeName === undefined ? textOfType : { kind: "string", name: typeName },
  value: bytesOf(text),
});

/** A struct of this type; fields that are not given have their zero values. */
export const struct = (type: StructType, fields: Readonly<Record<string, Value>>): Value => ({
  is: "struct",
  type,
  fields: type.fields.map((field) => fields[field.name] ?? zeroOf(field.type)),
});

export const pointer = (element: Type, to?: Value): Value => ({ is: "pointer", type: pointerTo(element), to });

/** A map with these keys; interfaces unless a type is given. */
export const map = (entries: Readonly<Record<string, Value>>, element: Type = ANY): Value =>
  ofMap(new Map(Object.entries(entries).map(([key, value]) => [bytesOf(key), value])), element);
