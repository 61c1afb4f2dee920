// The truth of values: what is zero or empty is false.
import type { Value } from "./value.ts";

/** As `if` sees it. */
export const isTrue = (value: Value): boolean => {
  switch (value.is) {
    case "none":
    case "nil":
      return false;
    case "bool":
      return value.value;
    case "int":
      return value.value !== 0n;
    case "float":
      return value.value !== 0;
    case "string":
      return value.value !== "";
    case "bytes":
      return (value.value ?? "") !== "";
    case "list":
      return (value.items?.length ?? 0) > 0;
    case "map":
      return (value.entries?.map.size ?? 0) > 0;
    case "pointer":
      return value.to !== undefined;
    case "semver":
    case "struct":
    case "time":
    default:
      return true;
  }
};
