// Parses and evaluates JSONPath as kubectl has it.
import * as E from "fp-ts/lib/Either.js";
import { digitsOf, isObject, member } from "./json.ts";
import type { SyntaxMistake } from "./syntax-mistake.ts";

/**
 * The JSONPath of `kubectl wait --for=jsonpath`, less what can only give several values: slices, unions and the recursive
 * descent.
 */
export type JsonPath = readonly Step[];

type Step =
  | { readonly type: "field"; readonly name: string }
  /** Selects from a list; from its end where the index is negative. */
  | { readonly type: "index"; readonly index: number }
  | { readonly type: "all" }
  /** The items of a list that have what the path leads to, or have it compare so. */
  | { readonly type: "filter"; readonly path: JsonPath; readonly compare?: Comparison };

interface Comparison {
  readonly operator: Operator;
  readonly with: string | number | boolean | { readonly path: JsonPath };
}

const OPERATORS = ["==", "!=", "<=", ">=", "<", ">"] as const;
type Operator = (typeof OPERATORS)[number];

/** The value that was read, and the index of what follows. */
type Parsed<A> = E.Either<SyntaxMistake, { readonly value: A; readonly next: number }>;

const parsed = <A>(value: A, next: number): Parsed<A> => E.right({ value, next });
const mistake = (message: string, index: number): E.Either<SyntaxMistake, never> =>
  E.left({ message, position: index + 1 });

const ENDS_FIELD = new Set([
  " ",
  "\t",
  "\r",
  "\n",
  ".",
  ",",
  "[",
  "]",
  "$",
  "@",
  "{",
  "}",
  "(",
  ")",
  "=",
  "!",
  "<",
  ">",
]);

/** Reads up to one of these characters; a backslash takes the meaning from the character after it. */
const escapedUntil = (text: string, start: number, isEnd: (character: string) => boolean): Parsed<string> => {
  let value = "";
  let at = start;
  for (; at < text.length; at += 1) {
    let character = text.charAt(at);
    if (isEnd(character)) break;
    if (character === "\\") {
      at += 1;
      if (at === text.length) return mistake("a character is missing after the backslash", at);
      character = text.charAt(at);
    }
    value += character;
  }
  return parsed(value, at);
};

const parseName = (text: string, start: number): Parsed<Step> => {
  const name = escapedUntil(text, start, (character) => ENDS_FIELD.has(character));
  if (E.isLeft(name)) return name;
  if (name.right.value !== "") return parsed({ type: "field", name: name.right.value }, name.right.next);
  return text[start] === "."
    ? mistake("the recursive descent .. is not supported", start)
    : mistake("the name of a field is missing", start);
};

const parseQuoted = (text: string, start: number): Parsed<string> => {
  const quote = text.charAt(start);
  const content = escapedUntil(text, start + 1, (character) => character === quote);
  if (E.isLeft(content)) return content;
  const { value, next } = content.right;
  return next === text.length ? mistake(`the closing ${quote} is missing`, next) : parsed(value, next + 1);
};

const afterSpaces = (text: string, start: number): number => {
  let at = start;
  while (text[at] === " ") at += 1;
  return at;
};

const expected = (what: string, text: string, at: number): E.Either<SyntaxMistake, never> =>
  mistake(at < text.length ? `${what} expected instead of ${text.charAt(at)}` : `${what} is missing`, at);

/** Not so long that it would be rounded, or written in another form. */
const NUMBER = /-?\d{1,15}(\.\d{1,6})?/y;

const parseOperand = (text: string, start: number): Parsed<Comparison["with"]> => {
  if (text[start] === "@") {
    const path = parseSteps(text, start + 1, false);
    return E.isLeft(path) ? path : parsed({ path: path.right.value }, path.right.next);
  }
  if (text[start] === "'" || text[start] === '"') return parseQuoted(text, start);
  if (text.startsWith("true", start)) return parsed(true, start + 4);
  if (text.startsWith("false", start)) return parsed(false, start + 5);
  NUMBER.lastIndex = start;
  const [number] = NUMBER.exec(text) ?? [];
  if (number !== undefined) return parsed(Number(number) + 0, start + number.length);
  return expected("a quoted text, a number, true, false or a path from @", text, start);
};

/** Parses from after `[?(` to after `)]`. */
const parseFilter = (text: string, start: number): Parsed<Step> => {
  const at = afterSpaces(text, start);
  if (text[at] !== "@") return expected("@", text, at);
  const path = parseSteps(text, at + 1, false);
  if (E.isLeft(path)) return path;

  const end = (filter: Step, from: number): Parsed<Step> => {
    const close = afterSpaces(text, from);
    return text.startsWith(")]", close) ? parsed(filter, close + 2) : expected(")]", text, close);
  };
  const after = afterSpaces(text, path.right.next);
  const operator = OPERATORS.find((one) => text.startsWith(one, after));
  if (operator === undefined) return end({ type: "filter", path: path.right.value }, after);
  const operand = parseOperand(text, afterSpaces(text, after + operator.length));
  if (E.isLeft(operand)) return operand;
  const compare = { operator, with: operand.right.value };
  return end({ type: "filter", path: path.right.value, compare }, operand.right.next);
};

const INDEX = /-?\d{1,9}(?=\])/y;

/** Parses from after `[` to after `]`. */
const parseBrackets = (text: string, start: number, mayHaveMany: boolean): Parsed<Step> => {
  if (text.startsWith("*]", start) || text.startsWith("?(", start)) {
    if (!mayHaveMany) return mistake("a path in a filter may not have [*] or a filter of its own", start);
    return text[start] === "*" ? parsed({ type: "all" }, start + 2) : parseFilter(text, start + 2);
  }
  if (text[start] === "'") {
    const name = parseQuoted(text, start);
    if (E.isLeft(name)) return name;
    const { value, next } = name.right;
    return text[next] === "]" ? parsed({ type: "field", name: value }, next + 1) : expected("]", text, next);
  }
  INDEX.lastIndex = start;
  const [index] = INDEX.exec(text) ?? [];
  if (index !== undefined) return parsed({ type: "index", index: Number(index) + 0 }, start + index.length + 1);
  return mistake(
    "one index, [*], ['field'] or a filter [?(@.field==\"value\")] expected; slices and unions are not supported",
    start,
  );
};

const parseSteps = (text: string, start: number, mayHaveMany: boolean): Parsed<JsonPath> => {
  const steps: Step[] = [];
  let at = start;
  while (text[at] === "." || text[at] === "[") {
    const step = text[at] === "." ? parseName(text, at + 1) : parseBrackets(text, at + 1, mayHaveMany);
    if (E.isLeft(step)) return step;
    steps.push(step.right.value);
    at = step.right.next;
  }
  return parsed(steps, at);
};

/** Reads `{.a.b}`, `{a.b}`, `.a.b` or `a.b`, from an index of the text; what follows is left to the caller. */
export const parseJsonPath = (text: string, start: number): Parsed<JsonPath> => {
  const isBraced = text[start] === "{";
  const begin = start + (isBraced ? 1 : 0);
  if (text[begin] === "$" || text[begin] === "@") return mistake("a path begins with a field, not with $ or @", begin);
  const first = parseName(text, text[begin] === "." ? begin + 1 : begin);
  if (E.isLeft(first)) return first;
  const rest = parseSteps(text, first.right.next, true);
  if (E.isLeft(rest)) return rest;
  const path = [first.right.value, ...rest.right.value];
  if (!isBraced) return parsed(path, rest.right.next);
  return text[rest.right.next] === "}" ? parsed(path, rest.right.next + 1) : expected("}", text, rest.right.next);
};

const escape = (text: string, special: RegExp): string => text.replaceAll(special, String.raw`\$&`);

const formatOperand = (operand: Comparison["with"]): string => {
  if (typeof operand === "object") return `@${formatSteps(operand.path)}`;
  return typeof operand === "string" ? `"${escape(operand, /["\\]/g)}"` : String(operand);
};

const formatStep = (step: Step): string => {
  switch (step.type) {
    case "field":
      return step.name === "" ? "['']" : `.${escape(step.name, /[^\w/-]/g)}`;
    case "index":
      return `[${step.index}]`;
    case "all":
      return "[*]";
    case "filter": {
      const compare = step.compare === undefined ? "" : `${step.compare.operator}${formatOperand(step.compare.with)}`;
      return `[?(@${formatSteps(step.path)}${compare})]`;
    }
  }
};

const formatSteps = (path: JsonPath): string => path.map(formatStep).join("");

/** Formats the path in braces, as kubectl documents it. */
export const formatJsonPath = (path: JsonPath): string => `{${formatSteps(path)}}`;

type Comparable = string | number | boolean;

const TESTS: Readonly<Record<Operator, (a: Comparable, b: Comparable) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
};

const comparable = (value: unknown): Comparable | undefined => {
  const digits = digitsOf(value);
  if (digits !== undefined) return Number(digits);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
};

/** Text with text and numbers with numbers; what cannot be compared does not pass. */
const compares = (left: unknown, operator: Operator, right: unknown): boolean => {
  const [a, b] = [comparable(left), comparable(right)];
  if (a === undefined || b === undefined || typeof a !== typeof b) return false;
  if (typeof a === "boolean" && operator !== "==" && operator !== "!=") return false;
  return TESTS[operator](a, b);
};

const passes = (item: unknown, { path, compare }: Extract<Step, { type: "filter" }>): boolean => {
  const [left] = findByPath(path, item);
  if (compare === undefined || left === undefined) return left !== undefined;
  const right = typeof compare.with === "object" ? findByPath(compare.with.path, item)[0] : compare.with;
  return compares(left, compare.operator, right);
};

/** The cost of looking at an item of a list, and of comparing one, in steps of a {@link Pay}. */
const COST = { item: 1 / 20, comparison: 1 / 2 };

/** Is told what is about to be looked at, in steps of about a microsecond; it may throw. */
type Pay = (steps: number) => void;

const take = (value: unknown, step: Step, pay: Pay): readonly unknown[] => {
  if (step.type === "field") {
    const field = isObject(value) ? member(value, step.name) : undefined;
    return field === undefined ? [] : [field];
  }
  if (!Array.isArray(value)) return [];
  switch (step.type) {
    case "index":
      return value.slice(step.index, step.index === -1 ? undefined : step.index + 1);
    case "all":
      pay(value.length * COST.item);
      return value;
    case "filter":
      pay(value.length * COST.comparison);
      return value.filter((item) => passes(item, step));
  }
};

/**
 * All values that the path leads to; none where something on the way is missing, or is no object or list.
 *
 * Guarantees: takes no more steps than the object has levels, however long the path.
 *
 * @param pay is told of the items of lists before they are looked at; it may throw. Default: they cost nothing.
 */
export const findByPath = (path: JsonPath, object: unknown, pay: Pay = () => {}): readonly unknown[] => {
  let values: readonly unknown[] = [object];
  for (const step of path) {
    if (values.length === 0) break;
    if (values.length > 1) pay(values.length * COST.item);
    values = values.flatMap((value) => take(value, step, pay));
  }
  return values;
};
