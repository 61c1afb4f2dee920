// The functions of sprig for lists.
import { isDeepEqual } from "../value/compare.ts";
import { fail } from "../template-error.ts";
import { isTrue } from "../value/truth.ts";
import { INT } from "../value/type.ts";
import { NIL, ofBool, ofBytes, ofInt, ofList, type Value } from "../value/value.ts";
import type { Context } from "../execute/context.ts";
import { type FunctionTable, type GoFunction, int, listItems } from "./go-function.ts";
import { cut, ofStrings, textsOf } from "./strings.ts";
import { toInt64 } from "./numbers.ts";

const toNil = (value: Value): Value => (value.is === "none" ? NIL : value);

/** Of a list, which Go does not show the function as nil. */
const ofItems = (
  name: string,
  call: (items: readonly Value[], args: readonly Value[], context: Context) => Value,
  more: Partial<GoFunction> = {},
): GoFunction => ({
  parameters: ["any"],
  taintedBy: "first",
  ...more,
  call: (args, context) => {
    const items = listItems(args[0], name);
    context.spend(items.length / 16);
    return call(items, args, context);
  },
});

const has = (items: readonly Value[], needle: Value, context: Context): boolean =>
  items.some((item) => isDeepEqual(needle, item, context.spend));

const appended = ofItems("append", (items, args) => ofList([...items, toNil(args[1] ?? NIL)]), {
  parameters: ["any", "any"],
});
const listed: GoFunction = { parameters: [], rest: "any", taintedBy: "none", call: (args) => ofList(args) };

const MOST = 1_000_000n;

const steps = (start: bigint, stop: bigint, step: bigint, context: Context): Value => {
  if (stop < start ? step >= 0n : step <= 0n) return ofList([], INT);
  const size = (stop - start) / step + 1n;
  context.spend(Number(size > MOST ? MOST : size) / 4);
  if (size > MOST) fail("the list is too long");
  const items: Value[] = [];
  for (let n = start; step > 0n ? n < stop : n > stop; n += step) items.push(ofInt(n));
  return ofList(items, INT);
};

export const LISTS: FunctionTable = {
  list: listed,
  tuple: listed,
  append: appended,
  push: appended,
  prepend: ofItems("prepend", (items, args) => ofList([toNil(args[1] ?? NIL), ...items]), {
    parameters: ["any", "any"],
  }),
  first: ofItems("first", (items) => items[0] ?? NIL),
  last: ofItems("last", (items) => items.at(-1) ?? NIL),
  rest: ofItems("rest", (items) => ofList(items.length === 0 ? undefined : items.slice(1))),
  initial: ofItems("initial", (items) => ofList(items.length === 0 ? undefined : items.slice(0, -1))),
  reverse: ofItems("reverse", (items) => ofList(items.toReversed())),
  compact: ofItems("compact", (items) => ofList(items.filter(isTrue)), { taintedBy: "deep" }),
  uniq: ofItems(
    "uniq",
    (items, _, context) => {
      const kept: Value[] = [];
      for (const item of items) if (!has(kept, item, context)) kept.push(item);
      return ofList(kept);
    },
    { taintedBy: "deep" },
  ),
  without: ofItems(
    "without",
    (items, args, context) => ofList(items.filter((item) => !has(args.slice(1), item, context))),
    { parameters: ["any"], rest: "any", taintedBy: "deep" },
  ),
  has: {
    parameters: ["any", "any"],
    call: ([needle = NIL, list], context) =>
      ofBool(list !== undefined && list.is !== "nil" && has(listItems(list, "has"), needle, context)),
  },
  slice: {
    parameters: ["any"],
    rest: "any",
    taintedBy: "all",
    call: ([list, from, to]) => {
      const items = listItems(list, "slice");
      if (items.length === 0) return NIL;
      const start = from === undefined ? 0n : toInt64(from);
      const end = to === undefined ? BigInt(items.length) : toInt64(to);
      if (list?.is === "bytes") return ofBytes(cut(list.value ?? "", start, end));
      if (start < 0n || end < start || end > BigInt(items.length)) fail(`slice bounds out of range [${start}:${end}]`);
      return list?.is === "list" ? { ...list, items: items.slice(Number(start), Number(end)) } : NIL;
    },
  },
  concat: {
    parameters: [],
    rest: "any",
    taintedBy: "all",
    call: (args, context) => {
      const items = args.flatMap((list) => listItems(list, "concat"));
      context.spend(items.length / 16);
      return ofList(items.length === 0 ? undefined : items);
    },
  },
  // That of sprig sorts a []string where it is, for all who see it: ours leaves it alone.
  sortAlpha: {
    parameters: ["any"],
    call: ([list = NIL], context) => {
      if (list.is === "nil") return ofStrings(["<nil>"]);
      return ofStrings(textsOf(list, context).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    },
  },
  until: { parameters: ["int"], call: ([stop], context) => steps(0n, int(stop), int(stop) < 0n ? -1n : 1n, context) },
  untilStep: {
    parameters: ["int", "int", "int"],
    call: ([start, stop, step], context) => steps(int(start), int(stop), int(step), context),
  },
};
