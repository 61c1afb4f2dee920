// Reads what a client-side kubectl apply was given for an object.
import { isObject, type JsonObject, LAST_APPLIED, type ObjectMeta, parseJson } from "@janus/types";
import { isTooDeep } from "./nesting.ts";

/** The manifest that a client-side `kubectl apply` was given last, nulls included; undefined where there is none that can be read. */
export const lastApplied = ({ annotations }: Pick<ObjectMeta, "annotations">): JsonObject | undefined => {
  const given = parseJson(annotations?.[LAST_APPLIED] ?? "");
  return isObject(given) && !isTooDeep(given) ? given : undefined;
};
