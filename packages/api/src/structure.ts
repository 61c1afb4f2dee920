// The combinators for objects: fields, optional fields, and errors for unknown ones.
import * as E from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import { type AnyCodec, type Codec, codec, type Schema, type TypeOf } from "./codec.ts";
import { isObject, type Json, type JsonObject } from "@janus/types";
import { later } from "./later.ts";

type Fields = Readonly<Record<string, AnyCodec>>;
type OptionalKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { readonly presence: "optional" } ? K : never;
}[keyof F];
/** The TypeScript type of an object with these fields. */
export type Decoded<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalKey<F>>]: TypeOf<F[K]>;
} & { readonly [K in OptionalKey<F>]?: TypeOf<F[K]> };

const isRequired = (field: AnyCodec): boolean => field.presence === undefined;

const objectSchema = (fields: Fields): Schema => {
  const required = Object.keys(fields).filter((name) => fields[name] !== undefined && isRequired(fields[name]));
  return {
    type: "object",
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema])),
  };
};

/**
 * Collects the errors of all fields. A null counts as missing: the API server drops it from a declared field before it
 * validates.
 */
const validateFields = (
  fields: Fields,
  value: JsonObject,
  context: t.Context,
): t.Validation<Record<string, unknown>> => {
  const decoded: Record<string, unknown> = {};
  const errors: t.ValidationError[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const actual = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
    const at = t.appendContext(context, name, field);
    if (actual === undefined && field.presence === "optional") continue;
    if (actual === undefined && isRequired(field))
      errors.push({ value: undefined, context: at, message: "is missing" });
    else {
      const result = field.validate(actual, at);
      if (E.isLeft(result)) errors.push(...result.left);
      else decoded[name] = result.right;
    }
  }
  return errors.length > 0 ? t.failures(errors) : t.success(decoded);
};

const encodeFields = (fields: Fields, value: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => value[name] !== undefined)
      .map(([name, field]) => [name, field.encode(value[name]) as Json]),
  );

const notAnObject = <A>(context: t.Context): t.Validation<A> => t.failure(undefined, context, "must be an object");

const SURPLUS = "this version of the controller does not know this field: upgrade the controller";

/** The API server drops fields that the CRD does not have. So an unknown field is of a CRD that is newer than this controller. */
const surplus = (fields: Fields, value: JsonObject, context: t.Context): t.Errors =>
  Object.keys(value)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => later(t.appendContext(context, name, t.unknown), SURPLUS));

/** Exactly these fields. Any other one is rejected, null or not, as by the API server under strict validation. */
export const object = <F extends Fields>(fields: F): Codec<Decoded<F>> =>
  codec<Decoded<F>>(
    objectSchema(fields),
    (u, c) => {
      if (!isObject(u)) return notAnObject(c);
      const known = validateFields(fields, u, c) as t.Validation<Decoded<F>>;
      const unknown = surplus(fields, u, c);
      return unknown.length === 0 ? known : t.failures([...(E.isLeft(known) ? known.left : []), ...unknown]);
    },
    (value) => encodeFields(fields, value),
  );

/** Some fields of an object whose type is defined elsewhere. The others are dropped. */
export const excerpt = <F extends Fields>(fields: F): Codec<Decoded<F>> =>
  codec<Decoded<F>>(
    objectSchema(fields),
    (u, c) => (isObject(u) ? (validateFields(fields, u, c) as t.Validation<Decoded<F>>) : notAnObject(c)),
    (value) => encodeFields(fields, value),
  );

/** These fields are validated, all others are preserved as they are, nulls included. */
export const openObject = <F extends Fields>(fields: F): Codec<JsonObject & Decoded<F>> =>
  codec<JsonObject & Decoded<F>>(
    { ...objectSchema(fields), "x-kubernetes-preserve-unknown-fields": true },
    (u, c) =>
      isObject(u)
        ? E.map((known: Record<string, unknown>) => {
            const rest = Object.entries(u).filter(([name]) => !Object.hasOwn(fields, name));
            return { ...Object.fromEntries(rest), ...known } as JsonObject & Decoded<F>;
          })(validateFields(fields, u, c))
        : notAnObject(c),
    (value) => ({ ...value, ...encodeFields(fields, value) }),
  );

interface ListLimits {
  readonly minItems?: number;
  readonly maxItems?: number;
}
type ListKind = { readonly atomic: true } | { readonly keyedBy: string };

/** An atomic list is written as a whole; one that is keyed is merged item by item in a server-side apply. */
export const list = <A>(item: Codec<A>, kind: ListKind, limits: ListLimits = {}): Codec<readonly A[]> => {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = limits;
  const merge: JsonObject =
    "atomic" in kind
      ? { "x-kubernetes-list-type": "atomic" }
      : { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [kind.keyedBy] };
  return codec<readonly A[]>(
    { type: "array", ...limits, ...merge, items: item.schema },
    (u, c) => {
      if (!Array.isArray(u)) return t.failure(undefined, c, "must be a list");
      if (u.length < minItems) return t.failure(undefined, c, `must have at least ${minItems} items`);
      if (u.length > maxItems) return t.failure(undefined, c, `must have at most ${maxItems} items`);
      const results = u.map((value: unknown, index) => item.validate(value, t.appendContext(c, `[${index}]`, item)));
      const errors = results.flatMap((result) => (E.isLeft(result) ? result.left : []));
      return errors.length > 0
        ? t.failures(errors)
        : t.success(results.flatMap((result) => (E.isRight(result) ? [result.right] : [])));
    },
    (value) => value.map((one) => item.encode(one)),
  );
};
