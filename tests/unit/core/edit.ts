import { elementOf, keysOf } from "../../../packages/controller/src/core/merge/list-element.ts";
import type { Path } from "../../../packages/controller/src/core/merge/field-set.ts";
import { fieldValue } from "../../../packages/controller/src/core/merge/field-value.ts";
import { asObject, equal, type Json, type JsonObject } from "@janus/types";

/** One field set, or taken out. */
export interface Edit {
  readonly path: Path;
  readonly value: Json | undefined;
}

const rest = (element: string): Json => JSON.parse(element.slice(2)) as Json;

const isAt = (element: string, item: Json): boolean =>
  element.startsWith("v:")
    ? equal(item, rest(element))
    : elementOf({ type: "keys", keys: keysOf(element) }, item) === element;

/** A map or list without anything in it, and a list item of which only the keys are left. */
const isEmpty = (value: Json | undefined, element: string): boolean => {
  if (Array.isArray(value)) return value.length === 0 && !element.startsWith("v:");
  if (typeof value !== "object" || value === null) return value === undefined;
  return Object.keys(value).every((name) => keysOf(element).includes(name));
};

const below = (at: Json | undefined, path: Path, value: Json | undefined, self: string): Json | undefined => {
  const [element, ...more] = path;
  if (element === undefined) return value;
  if (element.startsWith("f:")) {
    const name = element.slice(2);
    const inner = below(asObject(at)[name], more, value, element);
    const others = Object.entries(asObject(at)).filter(([other]) => other !== name);
    const all =
      inner === undefined || (more.length > 0 && isEmpty(inner, element))
        ? others
        : [...others, [name, inner] as const];
    return { ...(self.startsWith("k:") ? asObject(rest(self)) : {}), ...Object.fromEntries(all) };
  }
  const items = Array.isArray(at) ? (at as readonly Json[]) : [];
  const found = items.find((item) => isAt(element, item));
  const inner = element.startsWith("v:")
    ? value === undefined
      ? undefined
      : rest(element)
    : below(found, more, value, element);
  const gone = isEmpty(inner, element);
  if (found !== undefined) return items.flatMap((item) => (item !== found ? [item] : gone ? [] : [inner as Json]));
  return gone ? items : [...items, inner as Json];
};

/** The object with these fields set or taken out; what is empty then goes, new list items come last. */
export const edited = (object: JsonObject, edits: readonly Edit[]): JsonObject =>
  edits.reduce<JsonObject>((at, { path, value }) => below(at, path, value, "") as JsonObject, object);

/** Just these values, by path. */
export const valuesAt = (object: unknown, paths: readonly Path[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(paths.map((path) => [JSON.stringify(path), fieldValue(object, path)]));
