// The codec of a map from names to values of one type.
import type { Codec } from "@janus/api/codec";
import { isObject, type Json } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as t from "io-ts";

/** A null value counts as absent: the API server drops it. */
export const mapOf = <A>(value: Codec<A>): Codec<Readonly<Record<string, A>>> => {
  const validate: t.Validate<unknown, Readonly<Record<string, A>>> = (u, context) => {
    if (!isObject(u)) return t.failure(undefined, context, "must be an object");
    const results = Object.entries(u)
      .filter(([, one]) => one !== null)
      .map(([name, one]) => [name, value.validate(one, t.appendContext(context, name, value))] as const);
    const errors = results.flatMap(([, result]) => (E.isLeft(result) ? result.left : []));
    return errors.length > 0
      ? t.failures(errors)
      : t.success(
          Object.fromEntries(results.flatMap(([name, result]) => (E.isRight(result) ? [[name, result.right]] : []))),
        );
  };
  const encode = (all: Readonly<Record<string, A>>): Json =>
    Object.fromEntries(Object.entries(all).map(([name, one]) => [name, value.encode(one)]));
  return Object.assign(new t.Type("map", (u): u is Readonly<Record<string, A>> => isObject(u), validate, encode), {
    schema: { type: "object", additionalProperties: value.schema },
  });
};
