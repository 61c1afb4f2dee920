/** A JSON schema, as far as it is used here. */
export type Schema = Readonly<Record<string, unknown>>;

/** What can be set in `values.yaml`. */
export interface Value<A> {
  /** For people: what it is for, in sentences. */
  readonly about: string;
  readonly schema: Schema;
  readonly byDefault: A;
  /** Occurs nowhere else in what is installed: where the constructs print it, the chart has the value. */
  readonly sample?: A;
  /** Whether the constructs print `sample` only where it is not empty. */
  readonly optional?: boolean;
  /** How a template gets at it. @default as it is */
  readonly read?: (value: string) => string;
  /** Where different values make different objects: the templates decide by `when` between what the constructs make of both. */
  readonly choice?: Choice<A>;
}

export interface Choice<A> {
  /** A condition of a template on this value. */
  readonly when: (value: string) => string;
  readonly yes: A;
  readonly no: A;
}

export interface Group {
  readonly about: string;
  readonly values: Values;
}

export type Values = { readonly [name: string]: Value<unknown> | Group };

/** The TypeScript type of what a user writes. */
export type TypeOf<A> = {
  readonly [K in keyof A]: A[K] extends { readonly values: infer B }
    ? TypeOf<B>
    : A[K] extends Value<infer B>
      ? B
      : never;
};

export const value = <A>(one: Value<A>): Value<A> => one;

export const isGroup = (one: Value<unknown> | Group): one is Group => "values" in one;

/** A value and where it stands. */
export interface Placed {
  readonly path: string;
  readonly value: Value<unknown>;
}

export const placed = (values: Values, prefix = ""): readonly Placed[] =>
  Object.entries(values).flatMap(([name, one]) =>
    isGroup(one) ? placed(one.values, `${prefix}${name}.`) : [{ path: `${prefix}${name}`, value: one }],
  );

/** The object that has for each value what `pick` says. */
export const collect = (values: Values, pick: (one: Placed) => unknown, prefix = ""): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).map(([name, one]) => [
      name,
      isGroup(one) ? collect(one.values, pick, `${prefix}${name}.`) : pick({ path: `${prefix}${name}`, value: one }),
    ]),
  );
