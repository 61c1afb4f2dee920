// Compiles and evaluates the CEL expression of a gate.
import { cut } from "@janus/api";
import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import * as E from "fp-ts/lib/Either.js";
import { digitsOf, isObject, memoized, memoizedText, type SyntaxMistake } from "@janus/types";
import { isTooDeep, TOO_DEEP } from "../kubernetes/nesting.ts";
import { flawOf, withSteps } from "./cel-expression.ts";
import { describeFields } from "./cel-fields.ts";
import { type Meter, meter, metered } from "./cel-meter.ts";
import { failed, type GateState, met, notYet } from "./gate-state.ts";
import { integerAt, textAt } from "./read-fields.ts";

/**
 * Whether the expression is true of an object; if not, why, or which values it has looked at. They may be of a Secret.
 *
 * @param budget what it may cost, which it may share with others. Default: one of its own
 */
export type CelProgram = (self: object, budget?: Meter) => GateState;

/** The most levels of brackets: more take the parser long, seconds at a thousand. */
const MAX_NESTING = 50;

/** The most bytes quoted of an error of the library, which may quote the object. */
const MOST_QUOTED = 128;

const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** Converts as Kubernetes does for CEL: a whole number is an int, and any other one a double. */
const toCel = (value: unknown): CelInput => {
  const digits = digitsOf(value);
  if (digits !== undefined) return isInt64(BigInt(digits)) ? BigInt(digits) : Number(digits);
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(toCel);
  if (isObject(value)) return new Map(Object.entries(value).map(([name, inner]) => [name, toCel(inner)]));
  return null;
};

/** Converts a whole object, for all gates that look at it. */
const selfOf = memoized((self: object): CelInput => toCel(self));

/** The first bracket beyond the limit. Those in quotes count as well, which is no restriction in practice. */
const tooDeep = (text: string): SyntaxMistake | undefined => {
  let depth = 0;
  for (const { 0: bracket, index } of text.matchAll(/[([{}\])]/g)) {
    depth += "([{".includes(bracket) ? 1 : -1;
    if (depth > MAX_NESTING) return { message: `nested deeper than ${MAX_NESTING} levels`, position: index + 1 };
  }
  return undefined;
};

/** The parser says where in a field that it does not declare. */
const mistakeOf = (thrown: unknown): SyntaxMistake => ({
  message: textAt(thrown, "rawMessage") || (thrown instanceof Error ? thrown.message : String(thrown)),
  position: (integerAt(thrown, "location", "start", "offset") ?? 0) + 1,
});

/** The errors of an evaluation are values. To keep a stack with each, which nobody reads, takes ten times as long as the rest. */
const withoutStacks = <A>(evaluation: () => A): A => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return evaluation();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

/**
 * Reads an expression of CEL (https://cel.dev) over `self`.
 *
 * Guarantees: the program has no effect and does not throw; what it costs is bounded, whatever the expression and the object: one
 *             that takes too long has failed.
 * Assumes:    the text is at most as long as a gate.
 * Errors:     what is wrong, and where; also what is never true or false, and what is not supported.
 */
export const compileCel = (text: string): E.Either<SyntaxMistake, CelProgram> => {
  const deep = tooDeep(text);
  if (deep !== undefined) return E.left(deep);
  const read = E.tryCatch(() => parse(text), mistakeOf);
  if (E.isLeft(read)) return read;
  const { expr, sourceInfo } = read.right;

  let current = meter();
  const funcs = metered(celEnv().funcs, (steps) => current.pay(steps));
  const flaw = flawOf(
    expr,
    Map.groupBy(funcs, ({ name }) => name),
  );
  if (flaw !== undefined)
    return E.left({ message: flaw.message, position: (sourceInfo?.positions[String(flaw.in.id)] ?? 0) + 1 });

  const planned = E.tryCatch(() => plan(celEnv({ funcs }), withSteps(expr)), mistakeOf);
  if (E.isLeft(planned)) return planned;
  const describe = describeFields(expr);
  return E.right((self, budget = meter()) => {
    if (isTooDeep(self)) return failed(`the object ${TOO_DEEP}`);
    current = budget;
    const values = { self: selfOf(self) };
    const result = withoutStacks(() => planned.right(values));
    if (budget.isExhausted()) return failed("takes too long on this object");
    if (result === true) return met;
    if (isCelError(result)) return notYet(cut(result.message, MOST_QUOTED));
    return notYet(result === false ? describe(self) : "neither true nor false");
  });
};

/** The most characters, together, whose programs are kept: a program takes about 250 bytes for each character. */
const MOST_KEPT = 32_768;

const compiled = memoizedText(MOST_KEPT, compileCel);

/** The program of a gate. It is compiled once for all Transactions that have it, as long as these are not too many. */
export const programOf = memoized(({ expression }: { readonly expression: string }) => compiled(expression));
