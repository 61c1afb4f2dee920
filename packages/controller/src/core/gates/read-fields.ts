// Reads fields of an object by path, with a default for an absent or malformed one.
import { isObject, member } from "@janus/types";

/** The value at a path of names; undefined where there is none. */
export const valueAt = (object: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isObject(value) ? member(value, name) : undefined), object);

/** The text at a path of names; empty where there is none. */
export const textAt = (object: unknown, ...path: readonly string[]): string => {
  const value = valueAt(object, ...path);
  return typeof value === "string" ? value : "";
};

/** The texts in the list at a path of names; none where there is no list. */
export const textsAt = (object: unknown, ...path: readonly string[]): readonly string[] => {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
};

/** The integer at a path of names; undefined where there is none. */
export const integerAt = (object: unknown, ...path: readonly string[]): number | undefined => {
  const value = valueAt(object, ...path);
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
};

/** The generation at a path of names: an integer, or its digits as a text, as Argo Rollouts writes `observedGeneration`. */
export const generationAt = (object: unknown, ...path: readonly string[]): number | undefined => {
  const text = textAt(object, ...path);
  return /^\d{1,15}$/.test(text) ? Number(text) : integerAt(object, ...path);
};

/** The objects in the list at a path of names; none where there is no list. */
export const objectsAt = (object: unknown, ...path: readonly string[]): readonly object[] => {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
};
