// The functions of sprig for maps.
import { fail } from "../template-error.ts";
import { isDeeplyTainted } from "../value/deep-taint.ts";
import { isTrue } from "../value/truth.ts";
import {
  isTainted,
  type MapValue,
  NIL,
  ofBool,
  ofList,
  ofMap,
  ofString,
  sortedEntries,
  taint,
  taintIf,
  type Value,
} from "../value/value.ts";
import type { Context } from "../execute/context.ts";
import { type FunctionTable, mapArgument, text } from "./go-function.ts";
import { isNil, ofStrings, textOfValue } from "./strings.ts";

const toNil = (value: Value): Value => (isNil(value) ? taintIf(value.isTainted === true, NIL) : value);
const entriesOf = (map: MapValue): ReadonlyMap<string, Value> => map.entries?.map ?? new Map<string, Value>();

const changed = (
  map: MapValue,
  key: Value | undefined,
  context: Context,
  change: (map: Map<string, Value>) => void,
): Value => {
  const { entries } = map;
  if (entries === undefined) return fail("the map is nil");
  context.change(entries, change);
  if (key !== undefined && isTainted(key)) entries.isTainted = true;
  // Which map was changed depends on tainted values: all maps do now.
  if (map.isTainted === true) context.taintRest();
  return map;
};

const isEmpty = (value: Value | undefined): boolean => value === undefined || !isTrue(value);

/** As mergo does: maps within maps are merged, too. */
const merged = (into: MapValue, from: MapValue, isOverwriting: boolean, context: Context): void => {
  const source = sortedEntries(from);
  context.spend(source.length);
  const isMarked = isTainted(from);
  for (const [key, given] of source) {
    const value = taintIf(isMarked, given);
    const old = entriesOf(into).get(key);
    const set = (): void =>
      void changed(into, isMarked ? taint(ofString(key)) : undefined, context, (map) => map.set(key, value));
    if (isNil(value)) {
      if (isOverwriting) set();
      continue;
    }
    if (value.is === "map" && old?.is === "map" && old.entries !== undefined) {
      merged(old, value, isOverwriting, context);
      if (!isEmpty(old)) continue;
    }
    const isList = value.is === "list" || value.is === "bytes";
    if (old === undefined || isEmpty(old) || (isOverwriting && !(value.is === "map" && old.is === "map"))) {
      if (isList && isOverwriting && isEmpty(value) && !isEmpty(old)) {
        set();
        continue;
      }
      set();
    }
  }
};
const merge = (isOverwriting: boolean): FunctionTable[string] => ({
  parameters: ["map"],
  rest: "map",
  taintedBy: "none",
  changesMaps: true,
  call: ([first, ...others], context) => {
    // What is put where depends on what is there: with a secret in any of them, on secrets.
    if ([first, ...others].some((map) => map !== undefined && isDeeplyTainted(map, context.spend))) context.taintRest();
    // A nil map stays one unless there is something to put into it.
    const isNilMap = first?.is === "map" && first.entries === undefined;
    if (isNilMap && others.every((other) => mapArgument(other).entries === undefined)) return first;
    const into = isNilMap ? ofMap(new Map()) : mapArgument(first);
    for (const other of others) merged(into, mapArgument(other), isOverwriting, context);
    return into;
  },
});

const copied = (value: Value, context: Context, depth = 0): Value => {
  context.spend(0.1);
  if (depth > 200) return fail("a value contains itself, or is nested too deep");
  if (value.is === "list" && value.items !== undefined)
    return { ...value, items: value.items.map((item) => copied(item, context, depth + 1)) };
  if (value.is === "map" && value.entries !== undefined)
    return {
      ...value,
      entries: {
        ...value.entries,
        map: new Map([...value.entries.map].map(([key, item]) => [key, copied(item, context, depth + 1)])),
      },
    };
  return value;
};

export const DICTS: FunctionTable = {
  dict: {
    parameters: [],
    rest: "any",
    taintedBy: "none",
    call: (args, context) => {
      const map = new Map<string, Value>();
      let isMarked = false;
      for (let n = 0; n < args.length; n += 2) {
        const key = args[n] ?? NIL;
        isMarked ||= isTainted(key);
        map.set(textOfValue(key, context), n + 1 < args.length ? toNil(args[n + 1] ?? NIL) : ofString(""));
      }
      return taintIf(isMarked, ofMap(map));
    },
  },
  set: {
    parameters: ["map", "string", "any"],
    taintedBy: "none",
    changesMaps: true,
    call: ([map, key, value = NIL], context) =>
      changed(mapArgument(map), key, context, (entries) =>
        entries.set(text(key), taintIf(context.isTainted(), toNil(value))),
      ),
  },
  unset: {
    parameters: ["map", "string"],
    taintedBy: "none",
    changesMaps: true,
    call: ([given, key], context) => {
      const map = mapArgument(given);
      if (map.isTainted === true) context.taintRest();
      return map.entries === undefined ? map : changed(map, key, context, (entries) => void entries.delete(text(key)));
    },
  },
  hasKey: {
    parameters: ["map", "string"],
    taintedBy: "all",
    call: ([map, key]) => ofBool(entriesOf(mapArgument(map)).has(text(key))),
  },
  pluck: {
    parameters: ["string"],
    rest: "map",
    taintedBy: "all",
    call: ([key, ...maps]) =>
      ofList(maps.map((map) => entriesOf(mapArgument(map)).get(text(key))).filter((value) => value !== undefined)),
  },
  keys: {
    parameters: [],
    rest: "map",
    taintedBy: "all",
    call: (maps, context) => {
      const keys = maps.flatMap((map) => sortedEntries(mapArgument(map)).map(([key]) => key));
      context.spend(keys.length / 16);
      return ofStrings(keys);
    },
  },
  values: {
    parameters: ["map"],
    taintedBy: "all",
    call: ([map], context) => {
      const values = sortedEntries(mapArgument(map)).map(([, value]) => value);
      context.spend(values.length / 16);
      return ofList(values);
    },
  },
  pick: {
    parameters: ["map"],
    rest: "string",
    taintedBy: "all",
    call: ([map, ...keys]) =>
      ofMap(
        new Map(
          keys.flatMap((key): [string, Value][] => {
            const value = entriesOf(mapArgument(map)).get(text(key));
            return value === undefined ? [] : [[text(key), value]];
          }),
        ),
      ),
  },
  omit: {
    parameters: ["map"],
    rest: "string",
    taintedBy: "all",
    call: ([map, ...keys], context) => {
      const omitted = new Set(keys.map(text));
      context.spend(entriesOf(mapArgument(map)).size / 16);
      return ofMap(new Map([...entriesOf(mapArgument(map))].filter(([key]) => !omitted.has(key))));
    },
  },
  merge: merge(false),
  mergeOverwrite: merge(true),
  deepCopy: {
    parameters: ["any"],
    taintedBy: "all",
    call: ([value = NIL], context) => (isNil(value) ? fail("nil cannot be copied") : copied(value, context)),
  },
};
