import { isObject } from "./json.ts";

const sizes = new WeakMap<object, number>();

const counted = (value: unknown): number => {
  if (typeof value === "string") return value.length + 3;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + counted(one), 2);
  if (!isObject(value)) return 6;
  let sum = 2;
  for (const key in value) sum += key.length + 3 + counted(value[key]);
  return sum;
};

/** About how many bytes an object takes in memory, and on the wire. It is counted once. */
export const sizeOf = (object: object): number => {
  const known = sizes.get(object);
  if (known !== undefined) return known;
  const size = counted(object);
  sizes.set(object, size);
  return size;
};

/** The newest entries, as far as they take no more than so many bytes together. */
export const newest = <K, V>(map: ReadonlyMap<K, V>, most: number, size: (value: V) => number): ReadonlyMap<K, V> => {
  let left = most - [...map.values()].reduce((sum, value) => sum + size(value), 0);
  if (left >= 0) return map;
  return new Map(
    [...map].filter(([, value]) => {
      const goes = left < 0;
      if (goes) left += size(value);
      return !goes;
    }),
  );
};
