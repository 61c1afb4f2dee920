import type { Json, JsonObject } from "@janus/types";

export type { Json, JsonObject };

/** Only a plain object: arrays and null are not. Assumes that the value came out of a JSON parser. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
