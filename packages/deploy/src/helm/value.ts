// The types of a documented value of the Helm chart, with its schema and default.

/** The part of JSON schema that is used here. */
export type Schema = Readonly<Record<string, unknown>>;

/** A value of `values.yaml`. */
export interface Value<A> {
  /** Its documentation. */
  readonly about: string;
  readonly schema: Schema;
  readonly byDefault: A;
}

export interface Group {
  readonly about: string;
  readonly values: Values;
}

export type Values = { readonly [name: string]: Value<unknown> | Group };

/** The TypeScript type of the values that a user sets. */
export type TypeOf<A> = {
  readonly [K in keyof A]: A[K] extends { readonly values: infer B }
    ? TypeOf<B>
    : A[K] extends Value<infer B>
      ? B
      : never;
};

export const value = <A>(one: Value<A>): Value<A> => one;

export const isGroup = (one: Value<unknown> | Group): one is Group => "values" in one;

/** A value, and its path for `--set`. */
export interface Placed {
  readonly path: string;
  readonly value: Value<unknown>;
}

export const placed = (values: Values, prefix = ""): readonly Placed[] =>
  Object.entries(values).flatMap(([name, one]) =>
    isGroup(one) ? placed(one.values, `${prefix}${name}.`) : [{ path: `${prefix}${name}`, value: one }],
  );

/** The defaults. */
export const defaultsOf = (values: Values): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).map(([name, one]) => [name, isGroup(one) ? defaultsOf(one.values) : one.byDefault]),
  );
