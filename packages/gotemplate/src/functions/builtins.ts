// The functions that Go's text/template itself has, but for `slice`, which that of sprig hides.
import { printer } from "../format/printer.ts";
import { fail } from "../template-error.ts";
import { isEqual, isLess } from "../value/compare.ts";
import { isTrue } from "../value/truth.ts";
import { nameOfType, type Type } from "../value/type.ts";
import { NIL, NONE, ofBool, ofInt, ofString, taintIf, isTainted, typeOf, type Value, zeroOf } from "../value/value.ts";
import type { Context } from "../execute/context.ts";
import { htmlEscape, jsEscape, queryEscape } from "../format/escape.ts";
import { type FunctionTable, type GoFunction, text } from "./go-function.ts";

const typeName = (value: Value): string => nameOfType(typeOf(value) as Type);

const held = (value: Value, what: string): Value => {
  if (value.is === "nil") return fail(`${what} of nil`);
  return value.is === "pointer" ? (value.to ?? fail(`${what} of a nil pointer`)) : value;
};

const position = (index: Value, length: number): number => {
  if (index.is !== "int")
    return fail(`cannot index a list with ${index.is === "none" || index.is === "nil" ? "nil" : typeName(index)}`);
  return index.value < 0n || index.value >= BigInt(length)
    ? fail(`index out of range: ${index.value}`)
    : Number(index.value);
};
const byte = (bytes: string, at: number): Value => ({
  is: "int",
  type: { kind: "uint8" },
  value: BigInt(bytes.charCodeAt(at)),
});

const at = (given: Value, index: Value): Value => {
  const item = held(given, "index");
  switch (item.is) {
    case "list":
      return item.items?.[position(index, item.items.length)] ?? fail("index out of range");
    case "bytes":
      return byte(item.value ?? "", position(index, item.value?.length ?? 0));
    case "string":
      return byte(item.value, position(index, item.value.length));
    case "map":
      if (index.is !== "string" || index.type.name !== undefined)
        return fail(
          `a map is indexed with a string, not with ${index.is === "none" || index.is === "nil" ? "nil" : typeName(index)}`,
        );
      return item.entries?.map.get(index.value) ?? zeroOf(item.type.element);
    case "none":
      return fail("index of untyped nil");
    case "bool":
    case "float":
    case "int":
    case "nil":
    case "pointer":
    case "semver":
    case "struct":
    case "time":
    default:
      return fail(`can't index ${typeName(item)}`);
  }
};

const index: GoFunction = {
  parameters: ["value"],
  rest: "value",
  taintedBy: "all",
  call: ([item = NONE, ...indexes]) => {
    if (item.is === "none" || item.is === "nil") return fail("index of untyped nil");
    return indexes.reduce((value, one) => {
      const found = at(value, one);
      return taintIf(
        isTainted(value) || (value.is === "pointer" && value.to !== undefined && isTainted(value.to)),
        found,
      );
    }, item);
  },
};

const length = (given: Value): number => {
  const value = held(given, "len");
  switch (value.is) {
    case "string":
      return value.value.length;
    case "bytes":
      return value.value?.length ?? 0;
    case "list":
      return value.items?.length ?? 0;
    case "map":
      return value.entries?.map.size ?? 0;
    case "none":
      return fail("len of nothing");
    case "bool":
    case "float":
    case "int":
    case "nil":
    case "pointer":
    case "semver":
    case "struct":
    case "time":
    default:
      return fail(`len of type ${typeName(value)}`);
  }
};

const isEqualToAny = ([first = NIL, ...others]: readonly Value[], { spend }: Context): boolean => {
  if (others.length === 0) return fail("missing argument for comparison");
  return others.some((other) => isEqual(first, other, spend));
};
const compared = (compare: (a: Value, b: Value, context: Context) => boolean): GoFunction => ({
  parameters: ["value", "value"],
  call: ([a = NIL, b = NIL], context) => ofBool(compare(a, b, context)),
});
const isLessOrEqual = (a: Value, b: Value, { spend }: Context): boolean => isLess(a, b) || isEqual(a, b, spend);

/** The text of the arguments, as html, js and urlquery take it. */
const evaluated = (args: readonly Value[], context: Context): string => {
  const [only] = args;
  if (args.length === 1 && only?.is === "string") return text(only);
  return printer(context).print(
    args.map((value) =>
      value.is === "nil" || value.is === "none"
        ? ofString("<no value>")
        : value.is === "pointer"
          ? (value.to ?? value)
          : value,
    ),
  );
};
const escaped = (escape: (text: string) => string): GoFunction => ({
  parameters: [],
  rest: "any",
  call: (args, context) => ofString(escape(evaluated(args, context))),
});

export const BUILTINS: FunctionTable = {
  // The executor itself evaluates no more of their arguments than is needed.
  and: { parameters: ["value"], rest: "value", call: ([value = NONE]) => value },
  or: { parameters: ["value"], rest: "value", call: ([value = NONE]) => value },
  not: { parameters: ["value"], taintedBy: "all", call: ([value = NONE]) => ofBool(!isTrue(value)) },
  index,
  len: { parameters: ["value"], taintedBy: "all", call: ([value = NONE]) => ofInt(length(value)) },
  print: { parameters: [], rest: "any", call: (args, context) => ofString(printer(context).print(args)) },
  printf: {
    parameters: ["string"],
    rest: "any",
    call: ([format, ...args], context) => ofString(printer(context).printf(text(format), args)),
  },
  println: { parameters: [], rest: "any", call: (args, context) => ofString(printer(context).println(args)) },
  html: escaped(htmlEscape),
  js: escaped(jsEscape),
  urlquery: escaped(queryEscape),
  eq: { parameters: ["value"], rest: "value", call: (args, context) => ofBool(isEqualToAny(args, context)) },
  ne: compared((a, b, { spend }) => !isEqual(a, b, spend)),
  lt: compared(isLess),
  le: compared(isLessOrEqual),
  gt: compared((a, b, context) => !isLessOrEqual(a, b, context)),
  ge: compared((a, b) => !isLess(a, b)),
};
