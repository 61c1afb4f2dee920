import { writable } from "./write-body.ts";
import type { Path } from "./field-set.ts";
import { fieldValue, under } from "./field-value.ts";
import { asObject, equal, isEmpty, isObject, type Json, type KubeObject, member } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";

const namesOf = (...values: readonly unknown[]): readonly string[] => [
  ...new Set(values.flatMap((value) => (isObject(value) ? Object.keys(value) : []))),
];

const withMutations = (goal: Json | undefined, sent: Json | undefined, got: Json | undefined): Json | undefined => {
  if (equal(sent, got) || (got === undefined && isEmpty(sent))) return goal;
  if ([goal, sent, got].every((value) => value === undefined || isObject(value))) {
    const fields = namesOf(goal, sent, got).flatMap((name) => {
      const [before, wanted, made] = [goal, sent, got].map((value) => member(asObject(value), name));
      const value = withMutations(before, wanted, made);
      return value === undefined ? [] : [[name, value] as const];
    });
    return fields.length === 0 && got === undefined ? undefined : Object.fromEntries(fields);
  }
  if (!Array.isArray(goal) || !Array.isArray(sent) || !Array.isArray(got)) return got;
  const [before, wanted, made] = [goal, sent, got] as readonly (readonly Json[])[];
  // If items were added or removed, it is unknown which is which.
  if (before?.length !== wanted?.length || wanted?.length !== made?.length) return goal;
  return before?.map((item, at) => withMutations(item, wanted?.[at], made?.[at]) ?? item);
};

/**
 * The goal of a rollback: the former object, except for values that the API server, or admission, has changed in
 * the PUT that was to restore it. No other client can come between a PUT and its response.
 */
export const withServerMutations = (goal: KubeObject, sent: object, got: KubeObject, place: ObjectRef): KubeObject =>
  withMutations(
    goal as unknown as Json,
    writable(sent as KubeObject, place),
    writable(got, place),
  ) as unknown as KubeObject;

/** Where two values differ. */
export const differingPaths = (a: unknown, b: unknown, path: Path = []): readonly Path[] => {
  if (equal(a, b)) return [];
  return isObject(a) && isObject(b)
    ? namesOf(a, b).flatMap((name) => differingPaths(member(a, name), member(b, name), [...path, `f:${name}`]))
    : [path];
};

/** Of items that each have a name of their own, as containers have. */
const itemNames = (list: unknown): readonly string[] | undefined => {
  if (!Array.isArray(list)) return undefined;
  const names = list.flatMap((item: unknown) => {
    const name = isObject(item) ? member(item, "name") : undefined;
    return typeof name === "string" ? [name] : [];
  });
  return new Set(names).size === list.length ? names : undefined;
};

/** {@link differingPaths}, also below the items of two lists that have the same names in the same order. */
export const itemDifferences = (a: unknown, b: unknown): readonly Path[] =>
  differingPaths(a, b).flatMap((path): readonly Path[] => {
    const [one, other] = [fieldValue(a, path), fieldValue(b, path)];
    const names = itemNames(one);
    if (names === undefined || !equal(names, itemNames(other))) return [path];
    return names.flatMap((name) => {
      const element = `k:${JSON.stringify({ name })}`;
      return itemDifferences(under(element)(one), under(element)(other)).map((below) => [...path, element, ...below]);
    });
  });
