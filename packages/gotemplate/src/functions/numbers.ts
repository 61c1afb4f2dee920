// sprig's functions of numbers: integers are 64 bits in Go, here as exact as a JavaScript number.
import { Fault } from "../fault.ts";
import { float, int, list, NIL, type Value } from "../value.ts";
import { type FunctionTable, MANY, stringOf, strval } from "./function.ts";

/** cast.ToInt64: what is no number is 0. */
export const toInt = (value: Value): number => {
  switch (value.kind) {
    case "int":
      return value.value;
    case "float":
      return Math.trunc(value.value);
    case "bool":
      return value.value ? 1 : 0;
    case "string":
      return /^[+-]?\d+$/u.test(value.value) ? Number(value.value) : 0;
    default:
      return 0;
  }
};

export const toFloat = (value: Value): number => {
  switch (value.kind) {
    case "int":
    case "float":
      return value.value;
    case "bool":
      return value.value ? 1 : 0;
    case "string":
      return value.value.trim() === "" || Number.isNaN(Number(value.value)) ? 0 : Number(value.value);
    default:
      return 0;
  }
};

const divided = (a: number, b: number): number => {
  if (b === 0) throw new Fault("runtime error: integer divide by zero");
  return Math.trunc(a / b);
};

const fold = (start: number | undefined, join: (a: number, b: number) => number): FunctionTable[string] => ({
  arity: [start === undefined ? 1 : 0, MANY],
  call: (args) =>
    int(args.map(toInt).reduce((a, b) => join(a, b), ...((start === undefined ? [] : [start]) as [number]))),
});

const two = (join: (a: number, b: number) => number): FunctionTable[string] => ({
  arity: [2, 2],
  call: ([a = NIL, b = NIL]) => int(join(toInt(a), toInt(b))),
});

/** More than a template could print. */
const MOST = 100_000;

const sequence = (start: number, stop: number, step: number, spend: (cost: number) => void): Value => {
  if (step === 0) return list([]);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  spend(Math.min(count, MOST * 10));
  return list(Array.from({ length: count }, (_, at) => int(start + at * step)));
};

const rounded = (value: number, places: number, on: number): number => {
  const pow = 10 ** places;
  const digit = value * pow;
  const rest = digit - Math.trunc(digit);
  return (rest >= on ? Math.ceil(digit) : Math.floor(digit)) / pow;
};

export const numbers: FunctionTable = {
  int: { arity: [1, 1], call: ([value = NIL]) => int(toInt(value)) },
  int64: { arity: [1, 1], call: ([value = NIL]) => int(toInt(value)) },
  float64: { arity: [1, 1], call: ([value = NIL]) => float(toFloat(value)) },
  atoi: {
    arity: [1, 1],
    call: ([value]) => int(/^[+-]?\d+$/u.test(stringOf(value)) ? Number(stringOf(value)) : 0),
  },
  toDecimal: {
    arity: [1, 1],
    call: ([value = NIL]) => {
      const digits = strval(value);
      return int(/^[0-7]+$/u.test(digits) ? Number.parseInt(digits, 8) : 0);
    },
  },
  add1: { arity: [1, 1], call: ([value = NIL]) => int(toInt(value) + 1) },
  add: fold(0, (a, b) => a + b),
  sub: two((a, b) => a - b),
  div: two(divided),
  mod: two((a, b) => (b === 0 ? divided(a, b) : a % b)),
  mul: fold(undefined, (a, b) => a * b),
  max: fold(undefined, Math.max),
  biggest: fold(undefined, Math.max),
  min: fold(undefined, Math.min),
  ceil: { arity: [1, 1], call: ([value = NIL]) => float(Math.ceil(toFloat(value))) },
  floor: { arity: [1, 1], call: ([value = NIL]) => float(Math.floor(toFloat(value))) },
  round: {
    arity: [2, 3],
    call: ([value = NIL, places = NIL, on]) =>
      float(rounded(toFloat(value), toInt(places), on === undefined ? 0.5 : toFloat(on))),
  },
  until: {
    arity: [1, 1],
    call: ([value = NIL], { spend }) => sequence(0, toInt(value), toInt(value) < 0 ? -1 : 1, spend),
  },
  untilStep: {
    arity: [3, 3],
    call: ([start = NIL, stop = NIL, step = NIL], { spend }) => sequence(toInt(start), toInt(stop), toInt(step), spend),
  },
};
