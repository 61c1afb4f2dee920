import type { Json, JsonObject } from "@janus/types";

/** As of ECMAScript's "JSON.parse source text access"; the type library does not have it yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown;
  readonly isRawJSON: (value: unknown) => value is { readonly rawJSON: string };
};

/** The digits of an integer that a JavaScript number would round; undefined for any other value. */
export const digitsOf = (value: unknown): string | undefined => (isRawJSON(value) ? value.rawJSON : undefined);

/**
 * An integer that a JavaScript number would round is none, though JavaScript keeps it in one: which has no prototype, so
 * that nothing else need be asked for.
 */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  (value instanceof Object || !isRawJSON(value));

/** The empty object for anything else. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The own property: `constructor` and `__proto__` are legal keys of a ConfigMap. */
export const member = (object: JsonObject | undefined, name: string): Json | undefined =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;

/** Deep equality of JSON values, independent of the order of keys. */
export const equal = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => equal(item, b[at]));
  if (!isObject(a) || !isObject(b)) return digitsOf(a) !== undefined && digitsOf(a) === digitsOf(b);
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]))
  );
};

/** What the API server may take for nothing, and leave out: Go calls it `omitempty`. */
export const isEmpty = (value: unknown): boolean =>
  [undefined, null, false, 0, ""].some((empty) => value === empty) ||
  (typeof value === "object" && Object.keys(value ?? {}).length === 0);

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Integers that a JavaScript number would round stay the text that they are, as the Kubernetes client leaves them. */
const exactly: Reviver = (_, value, { source = "" }) =>
  typeof value === "number" && String(value) !== source && /^-?[1-9]\d*$/.test(source) ? rawJSON(source) : value;

/** The inverse of {@link canonical}; `undefined` if it is not JSON. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text, exactly as Parameters<typeof JSON.parse>[1]);
  } catch {
    return undefined;
  }
};

/** JSON with the keys of every object in order, so that equal values have equal text. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
