// The functions of sprig for numbers.
import { printer } from "../format/printer.ts";
import { parseFloat64, parseInt64, parseInteger } from "../format/parse-number.ts";
import { fail } from "../template-error.ts";
import { NIL, ofFloat, ofInt, ofInt64, type Value } from "../value/value.ts";
import { type FunctionTable, type GoFunction, int, text } from "./go-function.ts";

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** As a processor does that has no such number. */
const truncated = (value: number): bigint => {
  if (!Number.isFinite(value)) return MIN;
  const integer = BigInt(Math.trunc(value));
  return integer > MAX || integer < MIN ? MIN : integer;
};

const heldBy = (value: Value): Value => (value.is === "pointer" ? (value.to ?? NIL) : value);
const isPlainString = (value: Value): value is Value & { readonly is: "string" } =>
  value.is === "string" && value.type.name === undefined;

export const toInt64 = (given: Value): bigint => {
  if (isPlainString(given)) return parseInt64(given.value, 10) ?? 0n;
  const value = heldBy(given);
  if (value.is === "int") return value.value > MAX ? MAX : value.value;
  if (value.is === "float") return truncated(value.value);
  return value.is === "bool" && value.value ? 1n : 0n;
};

const toFloat = (given: Value): number => {
  if (isPlainString(given)) {
    const parsed = parseFloat64(given.value);
    // What is too large is an error, unless it says that it is infinite.
    return parsed === undefined || (!Number.isFinite(parsed) && /[0-9]/u.test(given.value)) ? 0 : parsed;
  }
  const value = heldBy(given);
  if (value.is === "int") return Number(value.value);
  if (value.is === "float") return value.value;
  return value.is === "bool" && value.value ? 1 : 0;
};

const folded = (fold: (a: bigint, b: bigint) => bigint): GoFunction => ({
  parameters: ["any"],
  rest: "any",
  call: (args) => ofInt64(args.map(toInt64).reduce((a, b) => fold(a, b))),
});
const binary = (call: (a: bigint, b: bigint) => bigint): GoFunction => ({
  parameters: ["any", "any"],
  call: ([a = NIL, b = NIL]) => ofInt64(call(toInt64(a), toInt64(b))),
});
const unary = (call: (value: Value) => Value): GoFunction => ({
  parameters: ["any"],
  call: ([value = NIL]) => call(value),
});
const larger = folded((a, b) => (b > a ? b : a));

const divided = (divide: (a: bigint, b: bigint) => bigint) =>
  binary((a, b) => (b === 0n ? fail("integer divide by zero") : divide(a, b)));

const rounded = (value: number, places: number, threshold: number): number => {
  const power = 10 ** places;
  const digit = power * value;
  const fraction = Number.isFinite(digit) ? digit % 1 : Number.NaN;
  return (fraction >= threshold ? Math.ceil(digit) : Math.floor(digit)) / power;
};

/** What is too large is the largest, as of strconv.Atoi, whose error sprig ignores. */
const atoi = (digits: string): bigint => {
  if (!/^[+-]?[0-9]+$/u.test(digits)) return 0n;
  const value = parseInteger(digits, 10) ?? (digits.startsWith("-") ? MIN : MAX);
  return value > MAX ? MAX : value < MIN ? MIN : value;
};

export const NUMBERS: FunctionTable = {
  atoi: { parameters: ["string"], call: ([value]) => ofInt(atoi(text(value))) },
  int64: unary((value) => ofInt64(toInt64(value))),
  int: unary((value) => ofInt(toInt64(value))),
  float64: unary((value) => ofFloat(toFloat(value))),
  toDecimal: {
    parameters: ["any"],
    call: ([value = NIL], context) => ofInt64(parseInt64(printer(context).print([value]), 8) ?? 0n),
  },
  add1: unary((value) => ofInt64(toInt64(value) + 1n)),
  add: { parameters: [], rest: "any", call: (args) => ofInt64(args.reduce((sum, value) => sum + toInt64(value), 0n)) },
  sub: binary((a, b) => a - b),
  div: divided((a, b) => a / b),
  mod: divided((a, b) => a % b),
  mul: folded((a, b) => BigInt.asIntN(64, a * b)),
  biggest: larger,
  max: larger,
  min: folded((a, b) => (b < a ? b : a)),
  ceil: unary((value) => ofFloat(Math.ceil(toFloat(value)))),
  floor: unary((value) => ofFloat(Math.floor(toFloat(value)))),
  round: {
    parameters: ["any", "int"],
    rest: "float64",
    call: ([value = NIL, places, threshold]) =>
      ofFloat(rounded(toFloat(value), Number(int(places)), threshold?.is === "float" ? threshold.value : 0.5)),
  },
};
