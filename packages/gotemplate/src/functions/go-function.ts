// How the functions of templates are described: the types of their arguments, and what their taint comes from.
import type { Context } from "../execute/context.ts";
import { fail } from "../template-error.ts";
import { itemsOf, type MapValue, type Value } from "../value/value.ts";

/** `value` is Go's reflect.Value: anything, where a literal nil is no value. */
export type Parameter = "any" | "value" | "string" | "int" | "float64" | "bool" | "map" | "time";

export interface GoFunction {
  readonly parameters: readonly Parameter[];
  /** Of all further arguments. */
  readonly rest?: Parameter;
  /**
   * Arguments are of the types that were asked for.
   * It gives up (see template-error.ts) where the one of Go returns an error, or panics.
   */
  readonly call: (args: readonly Value[], context: Context) => Value;
  /**
   * The arguments whose marks the result bears: what anything in any of them depends on (deep), what they themselves depend
   * on, without what they contain (all), the same of one of them, or none, where the function marks its result itself.
   */
  readonly taintedBy?: "deep" | "all" | "first" | "last" | "none";
  /** It changes a map that it is given. */
  readonly changesMaps?: true;
}

export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** The argument, which is a string. */
export const text = (value: Value | undefined): string => (value?.is === "string" ? value.value : "");
/** The argument, which is an int. */
export const int = (value: Value | undefined): bigint => (value?.is === "int" ? value.value : 0n);
/** The argument, which is a map; a nil map is empty. */
export const mapArgument = (value: Value | undefined): MapValue =>
  value?.is === "map" ? value : fail("a map is missing");

/** For counts: what is larger than all that is bounded is as good as the largest. */
export const count = (value: Value | undefined): number => {
  const number = int(value);
  return number > 2n ** 40n ? 2 ** 40 : number < -(2n ** 40n) ? -(2 ** 40) : Number(number);
};

/** What is in the list, or bytes; anything else is refused, as the functions of lists do. */
export const listItems = (value: Value | undefined, what: string): readonly Value[] =>
  (value === undefined ? undefined : itemsOf(value)) ?? fail(`${what} needs a list`);
