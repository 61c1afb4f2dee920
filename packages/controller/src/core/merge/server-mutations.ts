import { writable } from "./write-body.ts";
import type { Path } from "./field-set.ts";
import { under } from "./field-value.ts";
import { MOST_SHOWN } from "./show-path.ts";
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

/** A field in which two values differ, and what a third one has there. */
export interface DifferingField {
  readonly a: unknown;
  readonly b: unknown;
  readonly other: unknown;
  /** Only for messages: there may be as many fields as an object has, each far below the others. */
  readonly path: () => Path;
}

/** Where a value is. */
type Place = () => Path;

const placeIn =
  (outer: Place, element: string): Place =>
  () => [...outer(), element];

/** Adds all of them to `found`. Of two lists that differ, `intoLists` may do so instead. */
const findDiffering = (
  { a, b, other, path }: DifferingField,
  found: DifferingField[],
  intoLists: (field: DifferingField) => boolean,
): void => {
  if (equal(a, b)) return;
  if (isObject(a) && isObject(b))
    for (const name of namesOf(a, b))
      findDiffering(
        {
          a: member(a, name),
          b: member(b, name),
          other: member(asObject(other), name),
          path: placeIn(path, `f:${name}`),
        },
        found,
        intoLists,
      );
  else if (!intoLists({ a, b, other, path })) found.push({ a, b, other, path });
};

const ROOT: Place = () => [];

/** Where two values differ. Lists are compared as a whole. */
export const differingFields = (a: unknown, b: unknown, other?: unknown): readonly DifferingField[] => {
  const found: DifferingField[] = [];
  findDiffering({ a, b, other, path: ROOT }, found, () => false);
  return found;
};

/** As many of their paths as messages have room for. */
export const firstPaths = (fields: readonly DifferingField[]): readonly Path[] =>
  fields.slice(0, MOST_SHOWN + 1).map(({ path }) => path());

/** Of items that each have a name of their own, as containers have. */
const itemNames = (list: unknown): readonly string[] | undefined => {
  if (!Array.isArray(list)) return undefined;
  const names = list.flatMap((item: unknown) => {
    const name = isObject(item) ? member(item, "name") : undefined;
    return typeof name === "string" ? [name] : [];
  });
  return new Set(names).size === list.length ? names : undefined;
};

/** {@link differingFields}, also below the items of two lists that have the same names in the same order. */
export const differingItems = (a: unknown, b: unknown, other?: unknown): readonly DifferingField[] => {
  const found: DifferingField[] = [];
  const intoItems = ({ a, b, other, path }: DifferingField): boolean => {
    const names = itemNames(a);
    if (names === undefined || !equal(names, itemNames(b))) return false;
    for (const name of names) {
      const element = `k:${JSON.stringify({ name })}`;
      const item = under(element);
      findDiffering({ a: item(a), b: item(b), other: item(other), path: placeIn(path, element) }, found, intoItems);
    }
    return true;
  };
  findDiffering({ a, b, other, path: ROOT }, found, intoItems);
  return found;
};
