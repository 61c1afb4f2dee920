import { isObject } from "@janus/types";

/**
 * The approximate size of a JSON value on the wire and in memory, in bytes: without serializing it, and without recursion, since
 * a stored object can be nested deeper than the stack.
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
