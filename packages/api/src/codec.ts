// Combinators that define a codec and its structural OpenAPI schema at once, so that both accept the same.
import * as E from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import { isObject, type Json, type JsonObject } from "@janus/types";
import { later } from "./later.ts";
import type { Rule } from "./rule.ts";

/** https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema */
export type Schema = JsonObject & { readonly type: string };

/**
 * An io-ts codec with its structural OpenAPI schema. Each combinator below extends both, so that the API server accepts
 * exactly what we decode. No error quotes the value: it may be that of a Secret.
 */
export interface Codec<A> extends t.Type<A, Json> {
  readonly schema: Schema;
}
/** The field is optional, in JSON and in TypeScript. */
export interface Optional<A> extends Codec<A> {
  readonly presence: "optional";
}
/** The field is optional in JSON; in TypeScript it has a value. */
export interface Defaulted<A> extends Codec<A> {
  readonly presence: "defaulted";
}
export type AnyCodec = t.Mixed & { readonly schema: Schema; readonly presence?: "optional" | "defaulted" };
export type TypeOf<C extends AnyCodec> = C["_A"];

export const codec = <A>(schema: Schema, validate: t.Validate<unknown, A>, encode: (value: A) => Json): Codec<A> => {
  const is = (value: unknown): value is A => {
    try {
      return E.isRight(validate(encode(value as A), []));
    } catch {
      return false;
    }
  };
  return Object.assign(new t.Type<A, Json>(schema.type, is, validate, encode), { schema });
};

const reuse = <A>(base: Codec<A>, more: JsonObject, validate: t.Validate<unknown, A> = base.validate): Codec<A> =>
  codec({ ...base.schema, ...more }, validate, base.encode);

/** The description of the field in `kubectl explain`. */
export const described = <A>(description: string, base: Codec<A>): Codec<A> => reuse(base, { description });

export const optional = <A>(base: Codec<A>): Optional<A> =>
  Object.assign(reuse(base, {}), { presence: "optional" as const });

/** The API server sets the default before it stores the object, and so does the codec. */
export const withDefault = <A>(value: A, base: Codec<A>): Defaulted<A> =>
  Object.assign(
    reuse(base, defaulting(base.encode(value), base.schema), (u, c) =>
      u === undefined ? t.success(value) : base.validate(u, c),
    ),
    { presence: "defaulted" as const },
  );

/** `kubectl explain` shows no default unless the description says it. */
const defaulting = (value: Json, { description }: Schema): JsonObject => ({
  default: value,
  ...(typeof description === "string" && typeof value === "string"
    ? { description: `${description} Default: ${value}.` }
    : {}),
});

/** Missing means `value`. The API server sets no default. */
export const orElse = <A>(value: A, base: Codec<A>): Defaulted<A> =>
  Object.assign(
    reuse(base, {}, (u, c) => (u === undefined ? t.success(value) : base.validate(u, c))),
    { presence: "defaulted" as const },
  );

/** Rejects with the rule's message, here and in the API server. Rules here get the decoded value, CEL rules the JSON. */
export const satisfying = <A>(base: Codec<A>, ...rules: readonly Rule<A>[]): Codec<A> =>
  reuse(base, validations(base, rules), (u, c) =>
    E.flatMap(base.validate(u, c), (value) => {
      const broken = rules.filter((rule) => !rule.holds(value));
      return broken.length === 0
        ? t.success(value)
        : t.failures(broken.map(({ message }) => ({ value: undefined, context: c, message })));
    }),
  );

/** CEL rules over the old and the new value. Only the API server has both, so they apply to updates alone. */
export const onUpdate = <A>(base: Codec<A>, ...rules: readonly Pick<Rule<A>, "cel" | "message">[]): Codec<A> =>
  reuse(base, validations(base, rules));

const validations = (base: AnyCodec, rules: readonly Pick<Rule<never>, "cel" | "message">[]): JsonObject => ({
  "x-kubernetes-validations": [
    ...((base.schema["x-kubernetes-validations"] ?? []) as readonly Json[]),
    ...rules.map(({ cel, message }) => ({ rule: cel, message })),
  ],
});

/** The same JSON and schema, another TypeScript type. `decode` returns on the left what is wrong with the value. */
export const as = <A, B>(
  base: Codec<A>,
  decode: (value: A) => E.Either<string, B>,
  encode: (value: B) => A,
): Codec<B> =>
  codec(
    base.schema,
    (u, c) =>
      E.flatMap(base.validate(u, c), (value) =>
        E.match(
          (message: string) => t.failure<B>(undefined, c, message),
          (decoded: B) => t.success(decoded),
        )(decode(value)),
      ),
    (value) => base.encode(encode(value)),
  );

const primitive = <A extends Json>(schema: Schema, is: (u: unknown) => u is A, expected: string): Codec<A> =>
  codec<A>(
    schema,
    (u, c) => (is(u) ? t.success(u) : t.failure<A>(undefined, c, expected)),
    (value) => value,
  );

/** Lengths count Unicode code points, as the API server does. */
export const string = (limits: { readonly minLength?: number; readonly maxLength?: number } = {}): Codec<string> => {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = limits;
  const base = primitive({ type: "string", ...limits }, (u): u is string => typeof u === "string", "must be a string");
  return reuse(base, {}, (u, c) =>
    E.flatMap(base.validate(u, c), (value) => {
      const { length } = Array.from(value);
      return length < minLength
        ? t.failure(undefined, c, minLength === 1 ? "must not be empty" : `must have at least ${minLength} characters`)
        : length > maxLength
          ? t.failure(undefined, c, `must have at most ${maxLength} characters`)
          : t.success(value);
    }),
  );
};

export const oneOf = <const A extends string>(...values: readonly A[]): Codec<A> =>
  primitive<A>(
    { type: "string", enum: values },
    (u): u is A => values.some((value) => value === u),
    `must be one of ${values.join(", ")}`,
  );

export const boolean: Codec<boolean> = primitive(
  { type: "boolean" },
  (u): u is boolean => typeof u === "boolean",
  "must be true or false",
);

export const integer: Codec<number> = primitive(
  { type: "integer", format: "int64" },
  (u): u is number => Number.isSafeInteger(u),
  "must be an integer",
);

/** A format, of which this version supports all up to `latest`. The API server accepts any. */
export const format = (latest: number): Codec<number> => {
  const base = satisfying(integer, {
    cel: "self >= 1",
    message: "must be at least 1",
    holds: (version) => version >= 1,
  });
  return reuse(base, {}, (u, c) =>
    E.flatMap(base.validate(u, c), (version) =>
      version <= latest
        ? t.success(version)
        : t.failures([
            later(c, `is ${version}, and this version of the controller knows ${latest}: upgrade the controller`),
          ]),
    ),
  );
};

export const strings: Codec<Readonly<Record<string, string>>> = primitive(
  { type: "object", additionalProperties: { type: "string" } },
  (u): u is Readonly<Record<string, string>> =>
    isObject(u) && Object.values(u).every((value) => typeof value === "string"),
  "must map strings to strings",
);
