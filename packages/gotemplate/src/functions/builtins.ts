// The functions of text/template itself.
import { Fault } from "../fault.ts";
import { printTop, sprint, sprintf } from "../printed.ts";
import { bool, int, isTrue, NIL, taintedIf, text, typeName, type Value } from "../value.ts";
import { type FunctionTable, intOf, MANY, refused, stringOf } from "./function.ts";

const incompatible = (): never => {
  throw new Fault("incompatible types for comparison");
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

export const isEqual = (a: Value, b: Value): boolean => {
  if (a.kind === "nil" || b.kind === "nil") return a.kind === b.kind;
  if (["list", "map", "struct", "bytes"].includes(a.kind) || ["list", "map", "struct", "bytes"].includes(b.kind))
    return a.kind === "bytes" && b.kind === "bytes" ? sameBytes(a.value, b.value) : incompatible();
  return a.kind === b.kind ? a.value === b.value : incompatible();
};

const isLess = (a: Value, b: Value): boolean => {
  if (a.kind !== b.kind) return incompatible();
  if (a.kind === "string" && b.kind === "string") return Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)) < 0;
  if ((a.kind === "int" || a.kind === "float") && (b.kind === "int" || b.kind === "float")) return a.value < b.value;
  return incompatible();
};

const compared = (judge: (a: Value, b: Value) => boolean): FunctionTable[string] => ({
  arity: [2, 2],
  call: ([a = NIL, b = NIL]) => bool(judge(a, b)),
});

const indexed = (value: Value, key: Value): Value => {
  const mark = value.isTainted === true || key.isTainted === true;
  switch (value.kind) {
    case "list": {
      const found = value.value[intOf(key)];
      if (found === undefined) throw new Fault(`index out of range: ${intOf(key)}`);
      return taintedIf(mark, found);
    }
    case "map":
      return taintedIf(mark, value.value.get(stringOf(key)) ?? NIL);
    case "string":
    case "bytes": {
      const all = value.kind === "string" ? Buffer.from(value.value) : value.value;
      const found = all[intOf(key)];
      if (found === undefined) throw new Fault(`index out of range: ${intOf(key)}`);
      return taintedIf(mark, int(found));
    }
    case "nil":
      throw new Fault("index of untyped nil");
    default:
      throw new Fault(`can't index item of type ${typeName(value)}`);
  }
};

const lengthOf = (value: Value): number => {
  switch (value.kind) {
    case "string":
      return Buffer.byteLength(value.value);
    case "bytes":
    case "list":
      return value.value.length;
    case "map":
      return value.value.size;
    default:
      throw new Fault(`len of type ${typeName(value)}`);
  }
};

const HTML: Readonly<Record<string, string>> = {
  "\0": "\uFFFD",
  '"': "&#34;",
  "'": "&#39;",
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};
const JS: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  '"': '\\"',
  "<": "\\u003C",
  ">": "\\u003E",
  "&": "\\u0026",
  "=": "\\u003D",
};

const shown = (args: readonly Value[]): string =>
  args.length === 1 && args[0] !== undefined ? printTop(args[0]) : sprint(args);

const inScript = (value: string): string =>
  value.replaceAll(
    /[\\'"<>&=\p{Cc}]/gu,
    (one) => JS[one] ?? `\\u${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
  );

const inQuery = (value: string): string =>
  encodeURIComponent(value)
    .replaceAll(/[!'()*]/gu, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");

/** The first that is not true (of `and`), or true (of `or`); else the last. What is after it is not evaluated. */
const chosen = (stopsAt: boolean): FunctionTable[string] => ({
  lazy: (args, last) => {
    const all = last === undefined ? args : [...args, () => last];
    if (all.length === 0) throw new Fault("wrong number of arguments: 0 instead of 1 or more");
    let value = NIL;
    let mark = false;
    for (const one of all) {
      value = taintedIf(mark, one());
      mark = value.isTainted === true;
      if (isTrue(value) === stopsAt) break;
    }
    return value;
  },
});

export const builtins: FunctionTable = {
  and: chosen(false),
  or: chosen(true),
  not: { arity: [1, 1], call: ([value = NIL]) => bool(!isTrue(value)) },
  eq: {
    arity: [2, MANY],
    call: ([first = NIL, ...others]) => bool(others.some((one) => isEqual(first, one))),
  },
  ne: compared((a, b) => !isEqual(a, b)),
  lt: compared(isLess),
  le: compared((a, b) => isLess(a, b) || isEqual(a, b)),
  gt: compared((a, b) => !(isLess(a, b) || isEqual(a, b))),
  ge: compared((a, b) => !isLess(a, b)),
  len: { arity: [1, 1], call: ([value = NIL]) => int(lengthOf(value)) },
  index: { arity: [1, MANY], keepsMarks: true, call: ([value = NIL, ...keys]) => keys.reduce(indexed, value) },
  print: { arity: [0, MANY], call: (args) => text(sprint(args)) },
  println: { arity: [0, MANY], call: (args) => text(`${args.map((one) => sprint([one])).join(" ")}\n`) },
  printf: { arity: [1, MANY], call: ([format, ...args]) => text(sprintf(stringOf(format), args)) },
  html: { arity: [0, MANY], call: (args) => text(shown(args).replaceAll(/[\0"'&<>]/gu, (one) => HTML[one] ?? one)) },
  js: { arity: [0, MANY], call: (args) => text(inScript(shown(args))) },
  urlquery: { arity: [0, MANY], call: (args) => text(inQuery(shown(args))) },
  call: refused("functions of Go's values cannot be called"),
};
