import type { KubeObject } from "@janus/types";

/** As of ECMAScript's "JSON.parse source text access"; the type library does not have it yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** Where the string that begins here ends: behind its closing quote, before which there is no odd number of backslashes. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text[before] === "\\") before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
};

const LARGE_INTEGER = /(?<![\w.+-])-?[1-9]\d{15,}(?![\d.eE])/g;

/** What stands for such an integer until all is parsed: no JSON value is infinite. */
const standIn = (digits: string): string => (String(Number(digits)) === digits ? digits : `[1e999,"${digits}"]`);
const isStandIn = (value: unknown): value is readonly [number, string] =>
  Array.isArray(value) && value[0] === Number.POSITIVE_INFINITY;

/** The text, with a stand-in for every integer, outside of strings, that a JavaScript number would round. */
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
 * Puts every integer in the place of its stand-in, as the text that it is. One level after the other, and not by recursion, nor
 * with the reviver of `JSON.parse`, which is recursive, too: ten thousand levels, which the API server takes from anybody, would
 * exhaust the stack, and a list that contains such an object could not be read any more.
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
 * Undefined where the text is no JSON, which has no such value. An integer of any size goes through unchanged, and so does
 * whatever is nested as deep as the API server takes it.
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
