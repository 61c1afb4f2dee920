import type { KubeObject } from "@janus/types";

/** As of ECMAScript's "JSON.parse source text access"; the type library does not have it yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Integers that a JavaScript number would round stay the text that they are, and are written back as such. */
const exactly: Reviver = (_, value, { source = "" }) =>
  typeof value === "number" && String(value) !== source && /^-?[1-9]\d*$/.test(source) ? rawJSON(source) : value;

/** Undefined where the text is no JSON, which has no such value. An integer of any size goes through unchanged. */
export const parsed = (text: string): unknown => {
  try {
    return /\d{16}/.test(text) ? JSON.parse(text, exactly as Parameters<typeof JSON.parse>[1]) : JSON.parse(text);
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
