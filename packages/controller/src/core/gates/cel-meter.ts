// Counts the cost of a CEL evaluation, and ends it beyond a budget.
import {
  type CelFunc,
  CelScalar,
  type CelValue,
  celFunc,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
} from "@bufbuild/cel";
import { regexSize } from "./regex-size.ts";

/**
 * The most that the evaluation of all gates of an object may cost, in steps of about a microsecond; a usual gate takes some
 * hundreds. It keeps an expression that is slow, by accident or not, from holding up the Transactions of others.
 */
const BUDGET = 12_000;

/** Counts what an evaluation costs. */
export interface Meter {
  /** Throws when the budget is used up, and every time after that, so that no loop and no function continues. */
  readonly pay: (steps: number) => void;
  readonly isExhausted: () => boolean;
}

export const meter = (): Meter => {
  let left = BUDGET;
  return {
    pay: (steps) => {
      left -= steps;
      if (left < 0) throw new Error("too many steps");
    },
    isExhausted: () => left < 0,
  };
};

type Cost = (values: readonly CelValue[], pay: Meter["pay"]) => void;

const lengthOf = (value: unknown): number => (typeof value === "string" ? value.length : 0);

/** Goes through text, the items of a list or the keys of a map, but not into them. */
const shallow: Cost = (values, pay) => {
  for (const value of values) pay(1 + lengthOf(value) / 100 + (isCelList(value) || isCelMap(value) ? value.size : 0));
};

/** Goes into all that the values have. So does this, but not past the budget. */
const deep: Cost = (values, pay) => {
  for (const value of values) {
    pay(1 + lengthOf(value) / 100);
    if (isCelList(value)) deep([...value], pay);
    if (isCelMap(value)) deep([...value.values()], pay);
  }
};

/** The cost, at worst, of each character of one text with each of the other. */
const search: Cost = ([text, part], pay) => pay(1 + (lengthOf(text) * (100 + lengthOf(part))) / 10_000);

/** The regular expression is compiled; then, at worst, each character meets each of its states. */
const match: Cost = ([text, pattern], pay) => {
  const size = typeof pattern === "string" ? regexSize(pattern) : 0;
  pay((1 + size / 500) * (200 + lengthOf(text) * 10));
};

/** A number of so many digits takes time with their square. */
const read: Cost = ([text], pay) => pay(1 + lengthOf(text) ** 2 / 1000);

/** All functions that an expression may call, and what they cost. */
const COSTS: Readonly<Record<string, Cost>> = {
  "!_": shallow,
  "-_": shallow,
  "_+_": shallow,
  "_-_": shallow,
  "_*_": shallow,
  "_/_": shallow,
  "_%_": shallow,
  "_==_": deep,
  "_!=_": deep,
  "_<_": shallow,
  "_<=_": shallow,
  "_>_": shallow,
  "_>=_": shallow,
  "@in": deep,
  size: shallow,
  contains: search,
  startsWith: shallow,
  endsWith: shallow,
  matches: match,
  int: read,
  uint: read,
  double: read,
  string: shallow,
  bool: shallow,
  duration: read,
  timestamp: read,
};

/** The name of {@link step}: none that an expression can have. */
export const STEP = "@step";

/** Gives back what it is given, and pays for one round over it, and so many steps more. */
const step = (pay: Meter["pay"]): CelFunc =>
  celFunc(STEP, [CelScalar.DYN, CelScalar.DOUBLE], CelScalar.DYN, (value, more) => {
    shallow([value], pay);
    pay(more);
    return value;
  });

/** The same function, which pays before it begins. */
const paid = (func: CelFunc, cost: Cost, pay: Meter["pay"]): CelFunc => {
  const call = (target: CelValue | undefined, args: CelValue[]): CelValue => {
    cost(target === undefined ? args : [target, ...args], pay);
    const result = func.call(0, target, args);
    if (result === undefined) throw new Error(`${func.name} cannot be called with this`);
    if (isCelError(result)) throw result;
    return result;
  };
  return func.target === undefined
    ? celFunc(func.name, func.arguments, func.result, (...args) => call(undefined, args))
    : celMethod(func.name, func.target, func.arguments, func.result, function (...args) {
        return call(this, args);
      });
};

/** The functions that an expression may call, each of which pays; and {@link STEP}. */
export const metered = (funcs: Iterable<CelFunc>, pay: Meter["pay"]): CelFunc[] => [
  ...[...funcs].flatMap((func) => {
    const cost = Object.hasOwn(COSTS, func.name) ? COSTS[func.name] : undefined;
    return cost === undefined ? [] : [paid(func, cost, pay)];
  }),
  step(pay),
];
