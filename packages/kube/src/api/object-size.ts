import { isObject } from "./json.ts";

/**
 * About how many bytes a JSON value takes on the wire, and in memory: without writing it down to count them, and not by
 * recursion, since what anybody may have stored can be nested deeper than the stack.
 */
export const sizeOf = (whole: unknown): number => {
  let size = 0;
  const left = [whole];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") size += value.length + 3;
    else if (Array.isArray(value)) {
      size += 2;
      for (const one of value as readonly unknown[]) left.push(one);
    } else if (isObject(value)) {
      size += 2;
      for (const key in value) {
        size += key.length + 3;
        left.push(value[key]);
      }
    } else size += 6;
  }
  return size;
};
