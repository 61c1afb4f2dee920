// Compares values, as Go's reflect.DeepEqual and the comparisons of templates do.
import { fail } from "../template-error.ts";
import { compareVersions } from "./version.ts";
import { nameOfType, type Type } from "./type.ts";
import { typeOf, type Value } from "./value.ts";

type Basic = "bool" | "int" | "float" | "string";
const BASIC = new Set(["bool", "int", "float", "string"]);
const basicKind = (value: Value): Basic | undefined => (BASIC.has(value.is) ? (value.is as Basic) : undefined);
const isMissing = (value: Value): boolean => value.is === "none" || value.is === "nil";

/** Whether it is nil of its type. */
export const isNilOfType = (value: Value): boolean =>
  isMissing(value) ||
  (value.is === "bytes" && value.value === undefined) ||
  (value.is === "list" && value.items === undefined) ||
  (value.is === "map" && value.entries === undefined) ||
  (value.is === "pointer" && value.to === undefined);

const typeName = (value: Value): string => nameOfType(typeOf(value) as Type);

/** In Go, == of these is an error. */
const isComparable = (value: Value): boolean =>
  value.is === "struct"
    ? value.fields.every(isComparable)
    : value.is !== "list" && value.is !== "map" && value.is !== "bytes";

/** As reflect.DeepEqual: types count, and nil is not empty. */
export const isDeepEqual = (a: Value, b: Value, spend: (steps: number) => void, depth = 0): boolean => {
  spend(0.1);
  if (depth > 200) return fail("a value contains itself, or is nested too deep");
  if (isMissing(a) || isMissing(b)) return isMissing(a) && isMissing(b);
  if (a.is !== b.is || typeName(a) !== typeName(b)) return false;
  const all = (as: readonly Value[], bs: readonly Value[]): boolean =>
    as.length === bs.length && as.every((one, n) => isDeepEqual(one, bs[n] as Value, spend, depth + 1));
  switch (a.is) {
    case "list":
      return (
        b.is === "list" && (a.items === undefined) === (b.items === undefined) && all(a.items ?? [], b.items ?? [])
      );
    case "bytes":
      return b.is === "bytes" && a.value === b.value;
    case "map": {
      if (b.is !== "map" || (a.entries === undefined) !== (b.entries === undefined)) return false;
      const others = b.entries?.map ?? new Map<string, Value>();
      const own = a.entries?.map ?? new Map<string, Value>();
      if (own.size !== others.size) return false;
      for (const [key, value] of own) {
        const other = others.get(key);
        if (other === undefined || !isDeepEqual(value, other, spend, depth + 1)) return false;
      }
      return true;
    }
    case "struct":
      return b.is === "struct" && all(a.fields, b.fields);
    case "pointer":
      return (
        b.is === "pointer" &&
        (a.to === undefined || b.to === undefined ? a.to === b.to : isDeepEqual(a.to, b.to, spend, depth + 1))
      );
    case "time":
      return (
        b.is === "time" &&
        a.value.seconds === b.value.seconds &&
        a.value.nanos === b.value.nanos &&
        a.value.zone === b.value.zone &&
        a.value.offset === b.value.offset
      );
    case "semver":
      return b.is === "semver" && a.value.original === b.value.original && compareVersions(a.value, b.value) === 0;
    case "bool":
    case "float":
    case "string":
    case "int":
      return "value" in b && a.value === b.value;
    case "nil":
    case "none":
    default:
      return false;
  }
};

/** As `eq` of two arguments. */
export const isEqual = (a: Value, b: Value, spend: (steps: number) => void): boolean => {
  const [left, right] = [basicKind(a), basicKind(b)];
  if (left !== right) {
    if (!isMissing(a) && !isMissing(b)) fail(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);
    return false;
  }
  if (left !== undefined) return "value" in a && "value" in b && a.value === b.value;
  if (!isMissing(a) && !isMissing(b) && shapeOf(a) !== shapeOf(b))
    fail(`cannot compare ${typeName(a)} with ${typeName(b)}`);
  if (isNilOfType(a) || isNilOfType(b)) return isNilOfType(a) && isNilOfType(b);
  if (!isComparable(b)) fail(`${typeName(b)} cannot be compared`);
  // Pointers are equal if they are the same.
  if (a.is === "pointer" || a.is === "semver")
    return a === b || (a.is === "pointer" && b.is === "pointer" && a.to === b.to);
  return isDeepEqual(a, b, spend);
};
/** Go's kind of what is no basic type. */
const shapeOf = ({ is }: Value): string =>
  is === "bytes" ? "list" : is === "time" ? "struct" : is === "semver" ? "pointer" : is;

/** As `lt`. */
export const isLess = (a: Value, b: Value): boolean => {
  const [left, right] = [basicKind(a), basicKind(b)];
  if (left === undefined || right === undefined) return fail("invalid type for comparison");
  if (left !== right) return fail(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);
  if (left === "bool") return fail("invalid type for comparison");
  return "value" in a && "value" in b && (a.value as bigint) < (b.value as bigint);
};
