// Adds the default protocol TCP to ports, as a key of their list items.
import { child, type Fields } from "./field-set.ts";
import { elementOf, listKind } from "./list-element.ts";
import { isObject, type Json, type JsonObject } from "@janus/types";

const withProtocol = (item: Json): Json => (isObject(item) ? { protocol: "TCP", ...item } : item);

const completedIn = (value: Json, managed: Fields | undefined): Json => {
  if (managed === undefined) return value;
  if (isObject(value)) return completedFields(value, managed);
  const kind = listKind(managed);
  if (kind?.type !== "keys" || !Array.isArray(value)) return value;
  const items = value as readonly Json[];
  const named = kind.keys.includes("protocol") ? items.map(withProtocol) : items;
  return named.map((item) => completedIn(item, child(managed, elementOf(kind, item))));
};

const completedFields = (object: JsonObject, managed: Fields): JsonObject =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, completedIn(value, child(managed, `f:${name}`))] as const),
  );

/**
 * The content with the protocol TCP in ports that name none: the only key of list items with a default in built-in kinds. By that, an
 * apply finds the item that it is to be merged with; a rollback has it from the live object (`list-map-defaults.ts`).
 */
export const withDefaultProtocol = (content: JsonObject, managed: Fields): JsonObject =>
  completedFields(content, managed);
