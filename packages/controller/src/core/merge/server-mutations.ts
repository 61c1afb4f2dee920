// Finds values that admission or the API server set differently from what was sent.
import { writable } from "./write-body.ts";
import type { Path } from "./field-set.ts";
import { under } from "./field-value.ts";
import { type ListKind, listItems } from "./list-element.ts";
import { MOST_SHOWN } from "./show-path.ts";
import { asObject, equal, isEmpty, isObject, type Json, type KubeObject, member } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";

const namesOf = (...values: readonly unknown[]): readonly string[] => [
  ...new Set(values.flatMap((value) => (isObject(value) ? Object.keys(value) : []))),
];

/** Items that have a name of their own, as containers have. */
const NAMED: ListKind = { type: "keys", keys: ["name"] };
const BY_VALUE: ListKind = { type: "value" };

/** Whether each item has a name of its own. */
const isNamed = (list: readonly Json[]): boolean => {
  const names = list.map((item) => member(asObject(item), "name"));
  return names.every((name) => typeof name === "string") && new Set(names).size === names.length;
};

/** The items in the order of the API server: those that the write left as they were, and those that it did not send. */
const withMutatedItems = (
  kind: ListKind,
  goal: readonly Json[],
  sent: readonly Json[],
  got: readonly Json[],
): Json[] => {
  const [before, wanted, made] = [listItems(kind, goal), listItems(kind, sent), listItems(kind, got)];
  const kept = [...made].flatMap(([name, { item }]) => {
    const [former, asked] = [before.get(name), wanted.get(name)];
    if (asked === undefined) return [item];
    return former === undefined ? [] : [withMutations(former.item, asked.item, item) ?? item];
  });
  const removedByOthers = [...before].filter(([name]) => !made.has(name) && !wanted.has(name));
  return [...kept, ...removedByOthers.map(([, { item }]) => item)];
};

/** Whether an object or list with nothing in it is no part of the goal: it is not there, or others have added it. */
const isNoPart = (goal: Json | undefined, sent: Json | undefined, got: Json | undefined): boolean =>
  got === undefined || (goal === undefined && sent !== undefined);

const withMutationsInList = (goal: Json | undefined, sent: Json | undefined, got: Json | undefined) => {
  const lists = [goal, sent, got].map((value) => (value === undefined ? [] : value));
  if (!lists.every(Array.isArray)) return got;
  const [before = [], wanted = [], made = []] = lists as readonly (readonly Json[])[];
  const areNamed = [before, wanted, made].every(isNamed);
  if (!areNamed && before.length === wanted.length && wanted.length === made.length)
    return before.map((item, at) => withMutations(item, wanted[at], made[at]) ?? item);
  const items = withMutatedItems(areNamed ? NAMED : BY_VALUE, before, wanted, made);
  return items.length === 0 && isNoPart(goal, sent, got) ? undefined : items;
};

const withMutations = (goal: Json | undefined, sent: Json | undefined, got: Json | undefined): Json | undefined => {
  if (equal(sent, got) || (got === undefined && isEmpty(sent))) return goal;
  if (![goal, sent, got].every((value) => value === undefined || isObject(value)))
    return withMutationsInList(goal, sent, got);
  const fields = namesOf(goal, sent, got).flatMap((name) => {
    const [before, wanted, made] = [goal, sent, got].map((value) => member(asObject(value), name));
    const value = withMutations(before, wanted, made);
    return value === undefined ? [] : [[name, value] as const];
  });
  return fields.length === 0 && isNoPart(goal, sent, got) ? undefined : Object.fromEntries(fields);
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
  /** The path, only for messages: there may be as many fields as an object has, each far below the others. */
  readonly path: () => Path;
}

/** The position of a value. */
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

/** The fields in which two values differ. Lists are compared as a whole. */
export const differingFields = (a: unknown, b: unknown, other?: unknown): readonly DifferingField[] => {
  const found: DifferingField[] = [];
  findDiffering({ a, b, other, path: ROOT }, found, () => false);
  return found;
};

/** As many of their paths as messages have room for. */
export const firstPaths = (fields: readonly DifferingField[]): readonly Path[] =>
  fields.slice(0, MOST_SHOWN + 1).map(({ path }) => path());

/** {@link differingFields}, also below the items of two lists in which each item has a name of its own. */
export const differingItems = (a: unknown, b: unknown, other?: unknown): readonly DifferingField[] => {
  const found: DifferingField[] = [];
  const intoItems = ({ a, b, other, path }: DifferingField): boolean => {
    if (!Array.isArray(a) || !Array.isArray(b)) return false;
    const [some, others] = [a, b] as readonly [readonly Json[], readonly Json[]];
    if (!isNamed(some) || !isNamed(others)) return false;
    const before = found.length;
    for (const element of new Set([some, others].flatMap((list) => [...listItems(NAMED, list).keys()]))) {
      const item = under(element);
      findDiffering({ a: item(a), b: item(b), other: item(other), path: placeIn(path, element) }, found, intoItems);
    }
    // They may differ in their order only.
    return found.length > before;
  };
  findDiffering({ a, b, other, path: ROOT }, found, intoItems);
  return found;
};
