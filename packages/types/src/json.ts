// JSON values: parsing without loss of integers, comparison and type guards.

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * As of ECMAScript's "JSON.parse source text access"; the type library does not have it yet, nor has Node 20, on which constructs
 * run: no integer of theirs is of that kind.
 */
const { rawJSON, isRawJSON = () => false } = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown;
  readonly isRawJSON?: (value: unknown) => boolean;
};
const isExactInteger = isRawJSON as (value: unknown) => value is { readonly rawJSON: string };

/** The digits of an integer that a JavaScript number would round; undefined for any other value. */
export const digitsOf = (value: unknown): string | undefined => (isExactInteger(value) ? value.rawJSON : undefined);

/**
 * Whether it is an object: neither a list, nor an integer that a JavaScript number would round, although that one is kept in
 * an object. It has no prototype, so most values need no call of isRawJSON.
 */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  (value instanceof Object || !isExactInteger(value));

/** The empty object for anything else. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Whether lists and objects contain each other more than so deep: what is done to them by recursion needs some stack for each. */
export const isDeeperThan = (value: unknown, most: number): boolean => {
  if (typeof value !== "object" || value === null) return false;
  return most === 0 || Object.values(value).some((one) => isDeeperThan(one, most - 1));
};

/** An object with the other fields of this one. */
export const without = (object: unknown, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(asObject(object)).filter(([name]) => !names.includes(name)));

/** The own property: `constructor` and `__proto__` are legal keys of a ConfigMap. */
export const member = (object: JsonObject | undefined, name: string): Json | undefined =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;

/** What an object or list was last found to differ from. */
const differing = new WeakMap<object, object>();

/** Whether to compare two that have so many parts, the first different one of which is this, takes longer than to remember that they differ. */
const isWorthKnowing = (parts: number, different: unknown): boolean =>
  parts > 16 || (typeof different === "object" && different !== null);

const equalLists = (a: readonly unknown[], b: readonly unknown[]): boolean => {
  if (a.length !== b.length) return false;
  const at = a.findIndex((item, at) => !equal(item, b[at]));
  if (at !== -1 && isWorthKnowing(a.length, a[at])) differing.set(a, b);
  return at === -1;
};

const equalObjects = (a: JsonObject, b: JsonObject): boolean => {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  const name = names.find((name) => !Object.hasOwn(b, name) || !equal(a[name], b[name]));
  if (name !== undefined && isWorthKnowing(names.length, a[name])) differing.set(a, b);
  return name === undefined;
};

/**
 * Deep equality of JSON values, independent of the order of keys.
 *
 * Guarantees: asked of two objects, and then of their parts, and of the parts of these, as far as they differ, it looks at each
 *             part a few times, however deep that is: that two differ is found out once.
 * Assumes:    they are never modified.
 */
export const equal = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (differing.get(a) === b) return false;
  if (Array.isArray(a) && Array.isArray(b)) return equalLists(a, b);
  if (isObject(a) && isObject(b)) return equalObjects(a, b);
  return digitsOf(a) !== undefined && digitsOf(a) === digitsOf(b);
};

/** What the API server may take for nothing, and leave out: Go calls it `omitempty`. */
export const isEmpty = (value: unknown): boolean =>
  [undefined, null, false, 0, ""].some((empty) => value === empty) ||
  (typeof value === "object" && Object.keys(value ?? {}).length === 0);

/** JSON with the keys of every object in order, so that equal values have equal text. */
export const canonical = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? JSON.stringify(value, (_, inner: unknown) =>
        isObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
      )
    : JSON.stringify(value);

/** The end of the string that begins here: after its closing quote, which is not escaped by an odd number of backslashes. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text[before] === "\\") before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
};

const LARGE_INTEGER = /(?<![\w.+-])-?[1-9]\d{15,}(?![\d.eE])/g;

/** A placeholder for such an integer until the text is parsed: no JSON value is infinite. */
const standIn = (digits: string): string => (String(Number(digits)) === digits ? digits : `[1e999,"${digits}"]`);
const isStandIn = (value: unknown): value is readonly [number, string] =>
  Array.isArray(value) && value[0] === Number.POSITIVE_INFINITY;

/** The text, with a placeholder for every integer, outside of strings, that a JavaScript number would round. */
const withStandIns = (text: string): string => {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const start = quote === -1 ? text.length : quote;
    const end = quote === -1 ? text.length : endOfString(text, quote);
    parts.push(text.slice(at, start).replaceAll(LARGE_INTEGER, standIn), text.slice(start, end));
    at = end;
  }
  return parts.join("");
};

/**
 * Replaces every placeholder by its integer, as text. Level by level, without recursion and without the reviver of `JSON.parse`,
 * which is recursive, too: ten thousand levels, which the API server accepts from any user, would exhaust the stack, and a list
 * with such an object could not be read.
 */
const withIntegers = (whole: unknown): unknown => {
  if (isStandIn(whole)) return rawJSON(whole[1]);
  const containers = [whole];
  for (let one = containers.pop(); one !== undefined; one = containers.pop()) {
    if (typeof one !== "object" || one === null) continue;
    const container = one as Record<string, unknown>;
    for (const key of Object.keys(container)) {
      const value = container[key];
      if (isStandIn(value)) container[key] = rawJSON(value[1]);
      else if (typeof value === "object" && value !== null) containers.push(value);
    }
  }
  return whole;
};

/**
 * Undefined if the text is not JSON. Integers of any size are unchanged, and objects may be nested as deep as the API server
 * accepts.
 */
export const parseJson = (text: string): unknown => {
  try {
    if (!/\d{16}/.test(text)) return JSON.parse(text);
    const marked = withStandIns(text);
    return marked === text ? JSON.parse(text) : withIntegers(JSON.parse(marked));
  } catch {
    return undefined;
  }
};
