// sprig's functions of lists, maps, defaults and types.
import { Fault } from "../fault.ts";
import {
  bool,
  hasTaint,
  isTrue,
  list,
  map,
  NIL,
  sortedEntries,
  taintedIf,
  text,
  typeName,
  type Value,
} from "../value.ts";
import { type FunctionTable, intOf, listOf, MANY, mapOf, type Strict, stringOf } from "./function.ts";
import { goJson, prettyJson } from "./json-text.ts";

/** Deep equality, of any two values. */
export const isSame = (a: Value, b: Value): boolean => goJson(a) === goJson(b) && a.kind === b.kind;

const onList = (make: (all: readonly Value[]) => Value): Strict => ({
  arity: [1, 1],
  keepsMarks: true,
  call: ([value = NIL]) => taintedIf(value.isTainted === true, make(value.kind === "nil" ? [] : listOf(value))),
});

const keyOf = (value: Value): string => stringOf(value);

const pairs = (args: readonly Value[]): readonly (readonly [string, Value])[] =>
  args.flatMap((one, at) =>
    at % 2 === 0 ? [[one.kind === "string" ? one.value : goJson(one), args[at + 1] ?? text("")] as const] : [],
  );

/** The first wins, and maps within are merged, too. */
const merged = (into: Value, from: Value, overwrites: boolean): Value => {
  if (into.kind !== "map" || from.kind !== "map") return overwrites || !isTrue(into) ? from : into;
  const all = new Map(into.value);
  for (const [name, value] of from.value) {
    const own = all.get(name);
    all.set(name, own === undefined ? value : merged(own, value, overwrites));
  }
  return { ...into, value: all };
};

const unique = (all: readonly Value[]): readonly Value[] =>
  all.filter((one, at) => all.findIndex((other) => isSame(one, other)) === at);

const GO_KINDS: Readonly<Record<Value["kind"], string>> = {
  nil: "invalid",
  bool: "bool",
  int: "int64",
  float: "float64",
  string: "string",
  bytes: "slice",
  list: "slice",
  map: "map",
  struct: "struct",
};

export const collections: FunctionTable = {
  default: {
    arity: [1, 2],
    keepsMarks: true,
    call: ([fallback = NIL, value = NIL]) => taintedIf(hasTaint(value), isTrue(value) ? value : fallback),
  },
  empty: { arity: [1, 1], call: ([value = NIL]) => bool(!isTrue(value)) },
  coalesce: { arity: [0, MANY], call: (args) => args.find(isTrue) ?? NIL },
  ternary: {
    arity: [3, 3],
    keepsMarks: true,
    call: ([yes = NIL, no = NIL, test = NIL]) => {
      if (test.kind !== "bool") throw new Fault(`wrong type of argument: ${typeName(test)} instead of bool`);
      return taintedIf(test.isTainted === true, test.value ? yes : no);
    },
  },
  toJson: { arity: [1, 1], call: ([value = NIL]) => text(goJson(value)) },
  toPrettyJson: { arity: [1, 1], call: ([value = NIL]) => text(prettyJson(value)) },
  typeOf: { arity: [1, 1], call: ([value = NIL]) => text(typeName(value)) },
  typeIs: { arity: [2, 2], call: ([name, value = NIL]) => bool(stringOf(name) === typeName(value)) },
  typeIsLike: {
    arity: [2, 2],
    call: ([name, value = NIL]) => bool(stringOf(name) === typeName(value) || `*${stringOf(name)}` === typeName(value)),
  },
  kindOf: { arity: [1, 1], call: ([value = NIL]) => text(GO_KINDS[value.kind]) },
  kindIs: { arity: [2, 2], call: ([name, value = NIL]) => bool(stringOf(name) === GO_KINDS[value.kind]) },
  deepEqual: { arity: [2, 2], call: ([a = NIL, b = NIL]) => bool(isSame(a, b)) },
  fail: {
    arity: [1, 1],
    call: ([message]) => {
      throw new Fault(stringOf(message));
    },
  },

  list: { arity: [0, MANY], keepsMarks: true, call: (args) => list(args) },
  tuple: { arity: [0, MANY], keepsMarks: true, call: (args) => list(args) },
  first: onList((all) => all[0] ?? NIL),
  last: onList((all) => all.at(-1) ?? NIL),
  rest: onList((all) => list(all.slice(1))),
  initial: onList((all) => list(all.slice(0, -1))),
  reverse: onList((all) => list(all.toReversed())),
  uniq: { arity: [1, 1], call: ([value]) => list(unique(listOf(value))) },
  compact: { arity: [1, 1], call: ([value]) => list(listOf(value).filter(isTrue)) },
  append: { arity: [2, 2], keepsMarks: true, call: ([all, one = NIL]) => list([...listOf(all), one]) },
  push: { arity: [2, 2], keepsMarks: true, call: ([all, one = NIL]) => list([...listOf(all), one]) },
  prepend: { arity: [2, 2], keepsMarks: true, call: ([all, one = NIL]) => list([one, ...listOf(all)]) },
  concat: { arity: [0, MANY], keepsMarks: true, call: (args) => list(args.flatMap(listOf)) },
  without: {
    arity: [1, MANY],
    call: ([all, ...others]) => list(listOf(all).filter((one) => !others.some((other) => isSame(one, other)))),
  },
  has: {
    arity: [2, 2],
    call: ([one = NIL, all = NIL]) => bool(all.kind !== "nil" && listOf(all).some((other) => isSame(one, other))),
  },
  slice: {
    arity: [1, MANY],
    call: ([all, from, to]) => {
      const items = listOf(all);
      const [start, end] = [from === undefined ? 0 : intOf(from), to === undefined ? items.length : intOf(to)];
      if (start < 0 || end > items.length || start > end) throw new Fault("slice bounds out of range");
      return list(items.slice(start, end));
    },
  },

  dict: { arity: [0, MANY], keepsMarks: true, call: (args) => map(pairs(args)) },
  set: {
    arity: [3, 3],
    keepsMarks: true,
    call: ([all, key = NIL, value = NIL]) => map([...mapOf(all), [keyOf(key), value]]),
  },
  unset: {
    arity: [2, 2],
    keepsMarks: true,
    call: ([all, key = NIL]) => map([...mapOf(all)].filter(([name]) => name !== keyOf(key))),
  },
  hasKey: { arity: [2, 2], call: ([all, key = NIL]) => bool(mapOf(all).has(keyOf(key))) },
  keys: {
    arity: [0, MANY],
    call: (args) => list(args.flatMap((one) => sortedEntries(mapOf(one)).map(([name]) => text(name)))),
  },
  values: {
    arity: [1, 1],
    keepsMarks: true,
    call: ([all]) => list(sortedEntries(mapOf(all)).map(([, value]) => value)),
  },
  pluck: {
    arity: [1, MANY],
    keepsMarks: true,
    call: ([key = NIL, ...all]) => list(all.flatMap((one) => mapOf(one).get(keyOf(key)) ?? [])),
  },
  pick: {
    arity: [1, MANY],
    keepsMarks: true,
    call: ([all, ...names]) => map([...mapOf(all)].filter(([name]) => names.some((one) => keyOf(one) === name))),
  },
  omit: {
    arity: [1, MANY],
    keepsMarks: true,
    call: ([all, ...names]) => map([...mapOf(all)].filter(([name]) => !names.some((one) => keyOf(one) === name))),
  },
  merge: {
    arity: [1, MANY],
    call: ([first = NIL, ...others]) => others.reduce((all, one) => merged(all, one, false), first),
  },
  mergeOverwrite: {
    arity: [1, MANY],
    call: ([first = NIL, ...others]) => others.reduce((all, one) => merged(all, one, true), first),
  },
};
