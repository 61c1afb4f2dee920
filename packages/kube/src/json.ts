import type { KubeObject } from "./object.ts";

/** Undefined where the text is no JSON, which has no such value. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
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
