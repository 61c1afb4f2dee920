// Finds list items with the same keys, which server-side apply cannot address.
import { child, type Fields, fieldsOf, type Path } from "./field-set.ts";
import { under } from "./field-value.ts";
import { listItems, listKind } from "./list-element.ts";
import { entriesOf } from "./marks.ts";
import type { Json, KubeObject } from "@janus/types";

const duplicateIn = (value: unknown, managed: Fields): Path | undefined => {
  const kind = listKind(managed);
  if (kind !== undefined && Array.isArray(value))
    for (const [name, { element }] of listItems(kind, value as readonly Json[])) if (name !== element) return [element];
  for (const element of Object.keys(managed)) {
    const below = child(managed, element);
    const found = below === undefined ? undefined : duplicateIn(under(element)(value), below);
    if (found !== undefined) return [element, ...found];
  }
  return undefined;
};

/**
 * The first item of a list that has the same keys as an earlier one, by the managed fields of the object; undefined if there is
 * none. The API server takes some of them in a create, such as environment variables, and then refuses every apply.
 */
export const duplicateItem = (object: KubeObject): Path | undefined => duplicateIn(object, fieldsOf(entriesOf(object)));
