// The conditions of Wait and WaitV2: what they are about, and when they are met together.
import { asObject, isObject, type Json, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectReference } from "../api/object-reference.ts";

export interface Condition {
  readonly ref: ObjectReference;
  readonly text: string;
}

/** Met when one of `anyOf` is, or all of `allOf` are, if there are some. */
export interface Conditions {
  readonly anyOf: readonly Condition[];
  readonly allOf: readonly Condition[];
}

/** The value of a condition for an object. */
export interface Evaluated {
  readonly isMet: boolean;
  /** The words for the message at the deadline. */
  readonly shown: string;
}

/** The language in which conditions are written. */
export interface Language {
  /** Says what is wrong with one, whatever the object is. */
  readonly problem: (text: string) => string | undefined;
  readonly evaluate: (text: string, object: KubeObject) => Evaluated;
}

const LISTS = ["anyOf", "allOf"] as const;

const fieldsOf = (conditions: Json | undefined, list: (typeof LISTS)[number]): E.Either<string, readonly Json[]> => {
  const given = asObject(conditions)[list] ?? [];
  return Array.isArray(given) ? E.right(given as readonly Json[]) : E.left(`args.conditions.${list} must be a list`);
};

const read = (list: string, at: number, one: Json): E.Either<string, Condition> => {
  const { condition, objectReference } = asObject(one);
  const path = `args.conditions.${list}[${at}]`;
  if (typeof condition !== "string" || condition.trim() === "") return E.left(`${path} needs a condition`);
  const ref = asObject(objectReference) as ObjectReference;
  const missing = (["apiVersion", "resource", "name"] as const).filter((name) => (ref[name] ?? "") === "");
  return missing.length > 0
    ? E.left(`${path}.objectReference needs ${missing.join(", ")}`)
    : E.right({ ref, text: condition });
};

const listOf = (conditions: Json | undefined, list: (typeof LISTS)[number]): E.Either<string, readonly Condition[]> =>
  E.flatMap(fieldsOf(conditions, list), (all) =>
    E.traverseArray(([at, one]: readonly [number, Json]) => read(list, at, one))([...all.entries()]),
  );

/** Reads conditions. Left: what is wrong with the first wrong one. */
export const readConditions = (conditions: JsonObject): E.Either<string, Conditions> =>
  E.flatMap(listOf(conditions, "anyOf"), (anyOf) =>
    E.flatMap(listOf(conditions, "allOf"), (allOf) =>
      anyOf.length + allOf.length === 0 ? E.left("args.conditions needs anyOf or allOf") : E.right({ anyOf, allOf }),
    ),
  );

/** Their references to objects as they are written, with their paths. */
export const referencesIn = (conditions: Json | undefined): readonly (readonly [string, ObjectReference])[] =>
  LISTS.flatMap((list) => {
    const all = asObject(conditions)[list];
    return (Array.isArray(all) ? (all as readonly Json[]) : []).map(
      (one, at) =>
        [
          `args.conditions.${list}[${at}].objectReference`,
          asObject(asObject(one)["objectReference"]) as ObjectReference,
        ] as const,
    );
  });

/** Says what is wrong with their texts, before anything is known of the objects. */
export const conditionProblems = ({ problem }: Language, conditions: Json | undefined): readonly string[] =>
  LISTS.flatMap((list) => {
    const all = asObject(conditions)[list];
    return (Array.isArray(all) ? (all as readonly Json[]) : []).flatMap((one, at) => {
      const text = isObject(one) ? one["condition"] : undefined;
      const wrong = typeof text === "string" ? problem(text) : undefined;
      return wrong === undefined ? [] : [`args.conditions.${list}[${at}].condition: ${wrong}`];
    });
  });
