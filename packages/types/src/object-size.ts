// Estimates the size of an object in bytes.
import { isObject } from "./json.ts";

const sizes = new WeakMap<object, number>();

/** Not by recursion: objects of users can be nested deeper than the stack. */
const counted = (whole: object): number => {
  let size = 0;
  const left: unknown[] = [whole];
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

/** The approximate size of an object, or of a list, in memory and on the wire, in bytes. It is computed once. */
export const sizeOf = (object: object): number => {
  const known = sizes.get(object);
  if (known !== undefined) return known;
  const size = counted(object);
  sizes.set(object, size);
  return size;
};
