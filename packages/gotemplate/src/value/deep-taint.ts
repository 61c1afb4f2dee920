// Looks for tainted values in a value.
import { fail } from "../template-error.ts";
import { isTainted, type Value } from "./value.ts";

const DEPTH = 200;

/** @param spend counts the values that are looked at */
export const isDeeplyTainted = (value: Value, spend: (steps: number) => void, depth = 0): boolean => {
  if (isTainted(value)) return true;
  if (depth > DEPTH) return fail("a value contains itself, or is nested too deep");
  const any = (values: Iterable<Value>): boolean => {
    for (const one of values) if (isDeeplyTainted(one, spend, depth + 1)) return true;
    return false;
  };
  switch (value.is) {
    case "list":
      spend(0.02 * (value.items?.length ?? 0));
      return any(value.items ?? []);
    case "map":
      spend(0.02 * (value.entries?.map.size ?? 0));
      return any(value.entries?.map.values() ?? []);
    case "struct":
      spend(0.02 * value.fields.length);
      return any(value.fields);
    case "pointer":
      return value.to !== undefined && isDeeplyTainted(value.to, spend, depth + 1);
    case "bool":
    case "bytes":
    case "float":
    case "int":
    case "nil":
    case "none":
    case "semver":
    case "string":
    case "time":
    default:
      return false;
  }
};
