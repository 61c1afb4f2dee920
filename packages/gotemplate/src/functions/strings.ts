// sprig's functions of strings.
import { Fault } from "../fault.ts";
import { goQuoted } from "../printed.ts";
import { bool, list, NIL, text, type Value } from "../value.ts";
import { type FunctionTable, intOf, MANY, type Strict, stringOf, strslice, strval } from "./function.ts";

/** A function from so many strings to one. */
const onText = (count: number, make: (...args: readonly string[]) => string): Strict => ({
  arity: [count, count],
  call: (args) => text(make(...args.map(stringOf))),
});

/** From a number and a string. */
const withNumber = (make: (count: number, value: string) => string): Strict => ({
  arity: [2, 2],
  call: ([count, value], { spend }) => {
    const shown = stringOf(value);
    spend(Math.ceil(shown.length / 64));
    return text(make(intOf(count), shown));
  },
});

const tested = (test: (substring: string, value: string) => boolean): Strict => ({
  arity: [2, 2],
  call: ([substring, value]) => bool(test(stringOf(substring), stringOf(value))),
});

const escaped = (letters: string): string => letters.replaceAll(/[\\\]^-]/gu, String.raw`\$&`);
const trimmed = (value: string, letters: string, where: "left" | "right" | "both"): string => {
  if (letters === "") return value;
  const set = `[${escaped(letters)}]`;
  const left = where === "right" ? value : value.replace(new RegExp(`^${set}+`, "u"), "");
  return where === "left" ? left : left.replace(new RegExp(`${set}+$`, "u"), "");
};

const bytesCut = (value: string, start: number, end?: number): string =>
  Buffer.from(value).subarray(start, end).toString();

const abbreviated = (least: number, width: number, value: string): string => {
  if (width < 4 || (least > 0 && width < 7) || value.length <= width) return value;
  if (least > value.length) return value;
  const from = value.length - least < width - 3 ? value.length - (width - 3) : least;
  if (from <= 4) return `${value.slice(0, width - 3)}...`;
  return from + (width - 3) < value.length
    ? `...${abbreviated(0, width - 3, value.slice(from))}`
    : `...${value.slice(value.length - (width - 3))}`;
};

const title = (value: string): string =>
  value.replaceAll(
    /(^|[^\p{L}\p{N}_'])(\p{L})/gu,
    (_, before: string, letter: string) => `${before}${letter.toUpperCase()}`,
  );

const indented = (count: number, value: string): string => {
  const pad = " ".repeat(Math.min(Math.max(0, count), 10_000));
  return `${pad}${value.replaceAll("\n", `\n${pad}`)}`;
};

const repeated = (count: number, value: string, spend: (cost: number) => void): string => {
  if (count < 0) throw new Fault("strings: negative Repeat count");
  spend(Math.ceil((count * value.length) / 16));
  return value.repeat(count);
};

const snake = (value: string): string =>
  value
    .replaceAll(/([\p{Lu}\p{N}]+)(\p{Lu}\p{Ll})/gu, "$1_$2")
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1_$2")
    .replaceAll(/[-\s]/gu, "_")
    .toLowerCase();

const camel = (value: string): string =>
  value
    .replaceAll(/[_\s-]+(.)?/gu, (_, letter?: string) => (letter ?? "").toUpperCase())
    .replace(/^(.)/u, (letter) => letter.toUpperCase());

const wrapped = (width: number, value: string, end: string): string => {
  const lines: string[] = [];
  let line = "";
  for (const word of value.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(end);
};

const substring = (start: number, end: number, value: string): string => {
  const all = Buffer.from(value);
  if (start < 0) return all.subarray(0, Math.max(0, end)).toString();
  if (end < 0 || end > all.length) return all.subarray(start).toString();
  return all.subarray(start, end).toString();
};

const truncated = (count: number, value: string): string => {
  const size = Buffer.byteLength(value);
  if (count < 0 && size + count > 0) return bytesCut(value, size + count);
  return count >= 0 && size > count ? bytesCut(value, 0, count) : value;
};

const parts = (all: readonly string[]): Value => ({
  kind: "map",
  value: new Map(all.map((one, at) => [`_${at}`, text(one)])),
});

const splitOnce = (value: string, separator: string, most: number): readonly string[] => {
  const all = value.split(separator);
  return most < 1 || all.length <= most ? all : [...all.slice(0, most - 1), all.slice(most - 1).join(separator)];
};

const asText: Strict = { arity: [1, 1], call: ([value = NIL]) => text(strval(value)) };

export const strings: FunctionTable = {
  trim: onText(1, (value = "") => value.trim()),
  trimall: onText(2, (letters = "", value = "") => trimmed(value, letters, "both")),
  trimAll: onText(2, (letters = "", value = "") => trimmed(value, letters, "both")),
  trimSuffix: onText(2, (end = "", value = "") =>
    end !== "" && value.endsWith(end) ? value.slice(0, -end.length) : value,
  ),
  trimPrefix: onText(2, (start = "", value = "") => (value.startsWith(start) ? value.slice(start.length) : value)),
  upper: onText(1, (value = "") => value.toUpperCase()),
  lower: onText(1, (value = "") => value.toLowerCase()),
  title: onText(1, (value = "") => title(value)),
  untitle: onText(1, (value = "") =>
    value.replaceAll(/(^|\s)(\p{L})/gu, (_, before: string, letter: string) => `${before}${letter.toLowerCase()}`),
  ),
  swapcase: onText(1, (value = "") =>
    Array.from(value, (letter) => (letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase())).join(
      "",
    ),
  ),
  nospace: onText(1, (value = "") => value.replaceAll(/\s/gu, "")),
  initials: onText(1, (value = "") =>
    value
      .split(/\s+/u)
      .map((word) => Array.from(word)[0] ?? "")
      .join(""),
  ),
  snakecase: onText(1, (value = "") => snake(value)),
  camelcase: onText(1, (value = "") => camel(value)),
  kebabcase: onText(1, (value = "") => snake(value).replaceAll("_", "-")),
  replace: onText(3, (from = "", to = "", value = "") => value.split(from).join(to)),
  plural: {
    arity: [3, 3],
    call: ([one, many, count]) => text(intOf(count) === 1 ? stringOf(one) : stringOf(many)),
  },
  contains: tested((part, value) => value.includes(part)),
  hasPrefix: tested((part, value) => value.startsWith(part)),
  hasSuffix: tested((part, value) => value.endsWith(part)),
  repeat: { arity: [2, 2], call: ([count, value], { spend }) => text(repeated(intOf(count), stringOf(value), spend)) },
  substr: {
    arity: [3, 3],
    call: ([start, end, value]) => text(substring(intOf(start), intOf(end), stringOf(value))),
  },
  trunc: withNumber(truncated),
  abbrev: withNumber((width, value) => abbreviated(0, width, value)),
  abbrevboth: {
    arity: [3, 3],
    call: ([left, width, value]) => text(abbreviated(intOf(left), intOf(width), stringOf(value))),
  },
  indent: withNumber(indented),
  nindent: withNumber((count, value) => `\n${indented(count, value)}`),
  wrap: withNumber((width, value) => wrapped(width, value, "\n")),
  wrapWith: {
    arity: [3, 3],
    call: ([width, end, value]) => text(wrapped(intOf(width), stringOf(value), stringOf(end))),
  },
  cat: {
    arity: [0, MANY],
    call: (args) =>
      text(
        args
          .filter(({ kind }) => kind !== "nil")
          .map(strval)
          .join(" ")
          .trim(),
      ),
  },
  quote: {
    arity: [0, MANY],
    call: (args) =>
      text(
        args
          .filter(({ kind }) => kind !== "nil")
          .map((one) => goQuoted(strval(one)))
          .join(" "),
      ),
  },
  squote: {
    arity: [0, MANY],
    call: (args) =>
      text(
        args
          .filter(({ kind }) => kind !== "nil")
          .map((one) => `'${strval(one)}'`)
          .join(" "),
      ),
  },
  toString: asText,
  toStrings: { arity: [1, 1], call: ([value]) => list(strslice(value).map(text)) },
  join: { arity: [2, 2], call: ([separator, value]) => text(strslice(value).join(stringOf(separator))) },
  splitList: {
    arity: [2, 2],
    call: ([separator, value], { spend }) => {
      const all = stringOf(value).split(stringOf(separator));
      spend(all.length);
      return list(all.map(text));
    },
  },
  split: { arity: [2, 2], call: ([separator, value]) => parts(stringOf(value).split(stringOf(separator))) },
  splitn: {
    arity: [3, 3],
    call: ([separator, most, value]) => parts(splitOnce(stringOf(value), stringOf(separator), intOf(most))),
  },
  sortAlpha: {
    arity: [1, 1],
    call: ([value]) =>
      value?.kind === "list"
        ? list(
            strslice(value)
              .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
              .map(text),
          )
        : list(strslice(value).map(text)),
  },
};
