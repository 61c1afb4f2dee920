import type { KubeObject } from "@janus/types";

/** Of ECMAScript's "JSON.parse source text access", which the type library does not have yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

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
export const parsed = (text: string): unknown => {
  try {
    if (!/\d{16}/.test(text)) return JSON.parse(text);
    const marked = withStandIns(text);
    return marked === text ? JSON.parse(text) : withIntegers(JSON.parse(marked));
  } catch {
    return undefined;
  }
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isKubeObject = (value: unknown): value is KubeObject =>
  isObject(value) &&
  typeof value["apiVersion"] === "string" &&
  typeof value["kind"] === "string" &&
  isObject(value["metadata"]);
