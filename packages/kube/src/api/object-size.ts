import { isObject } from "./json.ts";

/** About how many bytes a JSON value takes on the wire, and in memory: without writing it down to count them. */
export const sizeOf = (value: unknown): number => {
  if (typeof value === "string") return value.length + 3;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + sizeOf(one), 2);
  if (!isObject(value)) return 6;
  let sum = 2;
  for (const key in value) sum += key.length + 3 + sizeOf(value[key]);
  return sum;
};
