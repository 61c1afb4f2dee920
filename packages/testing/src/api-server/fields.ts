// Splits values into the parts that have managers of their own.
import { asObject, isObject, type Json, type JsonObject } from "@janus/types";
import { elementOf } from "@janus/controller/core/merge/list-element";
import { deduced, type FieldType } from "./field-type.ts";

/** A part of a value that can have a manager of its own, under the element of a path that names it. */
export interface Part {
  /** The element as in managedFields: `f:data`, `k:{"name":"web"}`, `v:"x"`. */
  readonly element: string;
  readonly value: Json;
  readonly type: FieldType;
  /** Whether the kind names it: it is one of the fields of a struct. */
  readonly isNamed: boolean;
}

export const fieldType = (type: FieldType, name: string): FieldType => {
  if (type.is === "struct") return type.field(name);
  return type.is === "map" ? type.of : deduced;
};

/** The item with the defaults of its keys. */
const withKeys = (item: Json, type: FieldType): Json => {
  if (type.is !== "list" || !isObject(item)) return item;
  const missing = type.keys.flatMap(({ name, fallback }) =>
    fallback === undefined || item[name] !== undefined ? [] : [[name, fallback] as const],
  );
  return missing.length === 0 ? item : { ...item, ...Object.fromEntries(missing) };
};

export const itemElement = (type: FieldType, item: Json): string =>
  type.is === "list"
    ? elementOf({ type: "keys", keys: type.keys.map(({ name }) => name) }, withKeys(item, type))
    : elementOf({ type: "value" }, item);

const itemType: FieldType = { is: "leaf" };

/** The parts of a value; `undefined` if it is managed as a whole. */
export const partsOf = (value: Json, type: FieldType): readonly Part[] | undefined => {
  if (Array.isArray(value)) {
    if (type.is !== "list" && type.is !== "set") return undefined;
    return (value as readonly Json[]).map((item) => ({
      element: itemElement(type, item),
      value: item,
      type: type.is === "list" ? type.of : itemType,
      isNamed: false,
    }));
  }
  if (!isObject(value) || type.is === "leaf" || type.is === "list" || type.is === "set") return undefined;
  return Object.entries(value).map(([name, inner]) => ({
    element: `f:${name}`,
    value: inner,
    type: fieldType(type, name),
    isNamed: type.is === "struct",
  }));
};

const isEmpty = (value: Json): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

/** Whether it is the same as none: an empty map or list, or an empty struct that is there in any case. */
const isNothing = (value: Json, type: FieldType): boolean =>
  isEmpty(value) &&
  (type.is === "struct" ? type.isAlways : type.is === "map" || type.is === "set" || type.is === "list");

/**
 * How a value is stored: without nulls; with the defaults of keys; and of built-in types without what is empty, which the
 * API server leaves out, or has in any case, as `resources: {}` of a container.
 */
export const normal = (value: Json, type: FieldType): Json => {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return type.is === "list" ? items.map((item) => normal(withKeys(item, type), type.of)) : items;
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]): readonly (readonly [string, Json])[] => {
    const below = fieldType(type, name);
    const stored = normal(inner, below);
    const isOmitted = inner === null || (type.is === "struct" && type.omitsEmpty && isNothing(stored, below));
    return isOmitted ? [] : [[name, stored]];
  });
  return Object.fromEntries(kept);
};

/**
 * The order of the items of a list to which another is applied: that of the applied ones, and the others where they were.
 * https://github.com/kubernetes-sigs/structured-merge-diff/blob/v6.3.0/typed/merge.go
 */
const mergedOrder = (live: readonly string[], applied: readonly string[]): readonly string[] => {
  const [inLive, inApplied] = [new Set(live), new Set(applied)];
  const shared = applied.filter((element) => inLive.has(element));
  const order: string[] = [];
  const merged = new Set<string>();
  let next = shared.shift();
  const take = (element: string): void => {
    merged.add(element);
    order.push(element);
    if (element === next) next = shared.shift();
  };
  let [left, right] = [0, 0];
  while (left < live.length || right < applied.length) {
    const [ours, theirs] = [live[left], applied[right]];
    if (ours !== undefined && theirs !== undefined) {
      if (ours === theirs) {
        take(ours);
        left += 1;
        right += 1;
        continue;
      }
      if (inApplied.has(ours) && next !== undefined && next !== ours) {
        left += 1;
        continue;
      }
    }
    if (ours !== undefined && !inApplied.has(ours)) {
      order.push(ours);
      left += 1;
      continue;
    }
    if (ours !== undefined && merged.has(ours)) left += 1;
    if (theirs !== undefined) {
      take(theirs);
      right += 1;
    }
  }
  return order;
};

const mergedList = (live: readonly Json[], applied: readonly Json[], type: FieldType): readonly Json[] => {
  const [was, is] = [live, applied].map((items) => new Map(items.map((item) => [itemElement(type, item), item])));
  return mergedOrder([...(was?.keys() ?? [])], [...(is?.keys() ?? [])]).flatMap((element): readonly Json[] => {
    const [ours, theirs] = [was?.get(element), is?.get(element)];
    if (theirs === undefined) return ours === undefined ? [] : [ours];
    return [ours === undefined || type.is !== "list" ? theirs : merged(ours, theirs, type.of)];
  });
};

/** The live value with what is applied to it. Null takes away what is merged as a whole; of anything else it sets nothing. */
export const merged = (live: Json | undefined, applied: Json, type: FieldType): Json => {
  if (applied === null && live !== undefined && type.is !== "deduced")
    return (partsOf(live, type) ?? []).length === 0 ? null : live;
  if (Array.isArray(applied))
    return Array.isArray(live) && (type.is === "list" || type.is === "set") ? mergedList(live, applied, type) : applied;
  if (!isObject(applied) || type.is === "leaf") return applied;
  const was: JsonObject = asObject(live);
  const fields = Object.entries(applied).map(
    ([name, inner]) =>
      [name, merged(Object.hasOwn(was, name) ? was[name] : undefined, inner, fieldType(type, name))] as const,
  );
  return { ...was, ...Object.fromEntries(fields) };
};
