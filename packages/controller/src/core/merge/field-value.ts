// Reads the value at a path of fieldsV1.
import { itemAt } from "./list-element.ts";
import { isObject, type Json, member } from "@janus/types";
import type { Path } from "./field-set.ts";

/** Reads what is under an element: `undefined` where there is nothing. */
export const under = (element: string): ((value: unknown) => unknown) => {
  if (element.startsWith("f:")) {
    const name = element.slice(2);
    return (value) => (isObject(value) ? member(value, name) : undefined);
  }
  const inList = (items: readonly Json[]): Json | undefined =>
    element.startsWith("i:") ? items[Number(element.slice(2))] : itemAt(items, element);
  return (value) => (Array.isArray(value) ? inList(value as readonly Json[]) : undefined);
};

/** The value of a field; `undefined` where there is none. */
export const fieldValue = (object: unknown, path: Path): unknown =>
  path.reduce((value, element) => under(element)(value), object);
