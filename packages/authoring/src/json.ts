import { isJsonObject, type JsonObject } from "@janus/api";

/** The value, or an object without fields. */
export const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
