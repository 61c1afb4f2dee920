// What a function of templates is, and how its arguments are read.
import { Fault } from "../fault.ts";
import { print } from "../printed.ts";
import { typeName, type Value } from "../value.ts";

export interface FunctionContext {
  /** In ms since the epoch. */
  readonly now: number;
  readonly seed: string;
  /** How often something was drawn at random. */
  drawn: number;
  /** Accounts for work, so that a template is bounded. */
  readonly spend: (cost: number) => void;
}

export interface Strict {
  /** The least and the most arguments. */
  readonly arity: readonly [number, number];
  readonly call: (args: readonly Value[], context: FunctionContext) => Value;
  /** It returns its arguments, or parts of them, with their own marks of Secrets. */
  readonly keepsMarks?: true;
}

/** One that does not evaluate all of its arguments. @param last the value of the pipeline before it */
export interface Lazy {
  readonly lazy: (args: readonly (() => Value)[], last: Value | undefined) => Value;
}

export type TemplateFunction = Strict | Lazy;
export type FunctionTable = Readonly<Record<string, TemplateFunction>>;

export const isLazy = (one: TemplateFunction): one is Lazy => "lazy" in one;

export const MANY = Number.POSITIVE_INFINITY;

export const wrong = (value: Value | undefined, wanted: string): never => {
  throw new Fault(
    value === undefined
      ? `an argument is missing: ${wanted}`
      : `wrong type of argument: ${typeName(value)} instead of ${wanted}`,
  );
};

export const stringOf = (value: Value | undefined): string =>
  value?.kind === "string" ? value.value : wrong(value, "string");

export const intOf = (value: Value | undefined): number => (value?.kind === "int" ? value.value : wrong(value, "int"));

export const listOf = (value: Value | undefined): readonly Value[] =>
  value?.kind === "list" ? value.value : wrong(value, "list");

export const mapOf = (value: Value | undefined): ReadonlyMap<string, Value> =>
  value?.kind === "map" ? value.value : wrong(value, "map");

/** sprig's strval: bytes are text. */
export const strval = (value: Value): string =>
  value.kind === "bytes" ? Buffer.from(value.value).toString() : print(value);

/** sprig's strslice. */
export const strslice = (value: Value | undefined): readonly string[] => {
  if (value === undefined || value.kind === "nil") return [];
  return value.kind === "list" ? value.value.filter(({ kind }) => kind !== "nil").map(strval) : [strval(value)];
};

export const refused = (why: string): Strict => ({
  arity: [0, MANY],
  call: () => {
    throw new Fault(why);
  },
});
