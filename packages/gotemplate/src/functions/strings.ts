// The functions of sprig for strings.
import { printer } from "../format/printer.ts";
import { quote } from "../format/quote.ts";
import { fail } from "../template-error.ts";
import { bytesOfRune, bytesOfRunes, codesOf, runesOf } from "../value/bytes.ts";
import { STRING } from "../value/type.ts";
import {
  isDigit,
  isLetter,
  isLower,
  isSpace,
  isTitle,
  isUpper,
  lower,
  lowerRune,
  titleRune,
  upper,
  upperRune,
} from "../value/unicode.ts";
import { itemsOf, ofBool, ofList, ofMap, ofString, type Value } from "../value/value.ts";
import type { Context } from "../execute/context.ts";
import { count, type FunctionTable, type GoFunction, int, type Parameter, text } from "./go-function.ts";
import { camelCase, kebabCase, snakeCase } from "./word-case.ts";

/** The text of a value, as sprig's functions take it. */
export const textOfValue = (value: Value, context: Context): string =>
  value.is === "string"
    ? value.value
    : value.is === "bytes"
      ? (value.value ?? "")
      : printer(context).printf("%v", [value]);

export const isNil = (value: Value): boolean => value.is === "nil" || value.is === "none";

/** The texts of what is in a list; of anything else, its own. */
export const textsOf = (value: Value, context: Context): readonly string[] =>
  isNil(value)
    ? []
    : (itemsOf(value) ?? [value]).filter((item) => !isNil(item)).map((item) => textOfValue(item, context));

export const ofStrings = (texts: readonly string[]): Value => ofList(texts.map(ofString), STRING);

const pure = (parameters: readonly Parameter[], call: (args: readonly Value[]) => Value): GoFunction => ({
  parameters,
  call,
});
const mapped = (map: (text: string) => string): GoFunction => pure(["string"], ([value]) => ofString(map(text(value))));

/** s[from:to] */
export const cut = (value: string, from: bigint, to: bigint): string =>
  from < 0n || to < from || to > BigInt(value.length)
    ? fail(`slice bounds out of range [${from}:${to}] with length ${value.length}`)
    : value.slice(Number(from), Number(to));

const repeated = (value: string, times: bigint, context: Context): string => {
  if (times < 0n) return fail("negative count");
  if (value === "" || times === 0n) return "";
  context.claim(value.length * Number(times));
  return value.repeat(Number(times));
};

export const replaced = (source: string, old: string, by: string, context: Context): string => {
  if (old === "") {
    const runes = runesOf(source);
    context.claim(source.length + (runes.length + 1) * by.length);
    // Go puts it before every code point, and at the end; broken ones stay as they are.
    let out = by;
    let at = 0;
    for (const rune of runes) {
      const size = rune === 0xfffd && !source.startsWith("\u00ef\u00bf\u00bd", at) ? 1 : bytesOfRune(rune).length;
      out += source.slice(at, at + size) + by;
      at += size;
    }
    return out;
  }
  const parts = source.split(old);
  context.claim(source.length + (parts.length - 1) * (by.length - old.length));
  return parts.join(by);
};

const trimmed = (source: string, isCut: (rune: number) => boolean): string => {
  const runes = runesOf(source);
  if (runes.includes(0xfffd)) return trimmedBytes(source, isCut);
  let from = 0;
  let to = runes.length;
  while (from < to && isCut(runes[from] ?? 0)) from++;
  while (to > from && isCut(runes[to - 1] ?? 0)) to--;
  return from === 0 && to === runes.length ? source : bytesOfRunes(runes.slice(from, to));
};
/** Where there are bytes that are no code points, only ASCII is cut. */
const trimmedBytes = (source: string, isCut: (rune: number) => boolean): string => {
  let from = 0;
  let to = source.length;
  const cuts = (at: number): boolean => source.charCodeAt(at) < 0x80 && isCut(source.charCodeAt(at));
  while (from < to && cuts(from)) from++;
  while (to > from && cuts(to - 1)) to--;
  return source.slice(from, to);
};
const trimAll = pure(["string", "string"], ([chars, value]) => {
  const set = new Set(runesOf(text(chars)));
  return ofString(trimmed(text(value), (rune) => set.has(rune)));
});

const isSeparator = (rune: number): boolean => {
  if (rune < 0x80) return !/\w/u.test(String.fromCharCode(rune));
  return !isLetter(rune) && !isDigit(rune) && isSpace(rune);
};
const title = (value: string): string => {
  let before = 0x20;
  return bytesOfRunes(
    runesOf(value).map((rune) => {
      const result = isSeparator(before) ? titleRune(rune) : rune;
      before = rune;
      return result;
    }),
  );
};
const untitle = (value: string): string => {
  let isStart = true;
  return bytesOfRunes(
    runesOf(value).map((rune) => {
      if (isSpace(rune)) {
        isStart = true;
        return rune;
      }
      const result = isStart ? lowerRune(rune) : rune;
      isStart = false;
      return result;
    }),
  );
};
const swapCase = (value: string): string => {
  let isAfterSpace = true;
  return bytesOfRunes(
    runesOf(value).map((rune) => {
      if (isUpper(rune) || isTitle(rune)) {
        isAfterSpace = false;
        return lowerRune(rune);
      }
      if (isLower(rune)) {
        const result = isAfterSpace ? titleRune(rune) : upperRune(rune);
        isAfterSpace = false;
        return result;
      }
      isAfterSpace = isSpace(rune);
      return rune;
    }),
  );
};
/** It takes bytes for code points, and so do we. */
const initials = (value: string): string => {
  let isGap = true;
  let out = "";
  for (const byte of value) {
    const code = byte.charCodeAt(0);
    if (isSpace(code)) isGap = true;
    else if (isGap) {
      out += bytesOfRune(code);
      isGap = false;
    }
  }
  return out;
};
const noSpace = (value: string): string => {
  const kept = codesOf(value).filter((code) => !isSpace(code));
  return kept.length === value.length ? value : kept.map(bytesOfRune).join("");
};

const abbreviated = (value: string, offset: number, width: number): string => {
  if (value === "" || width < 4) return "";
  if (value.length <= width) return value;
  let from = Math.min(offset, value.length);
  if (value.length - from < width - 3) from = value.length - (width - 3);
  if (from <= 4) return `${value.slice(0, width - 3)}...`;
  if (width < 7) return "";
  if (from + width - 3 < value.length) return `...${abbreviated(value.slice(from), 0, width - 3)}`;
  return `...${value.slice(value.length - (width - 3))}`;
};

const wrapped = (value: string, length: number, newLine: string, isHard: boolean, context: Context): string => {
  if (value === "") return "";
  const width = Math.max(length, 1);
  const line = newLine === "" ? "\n" : newLine;
  const out: string[] = [];
  let size = 0;
  let at = 0;
  const push = (piece: string): void => {
    size += piece.length + line.length;
    context.claim(size);
    out.push(piece, line);
  };
  while (value.length - at > width) {
    context.spend(0.1);
    if (value.charAt(at) === " ") {
      at++;
      continue;
    }
    const space = value.slice(at, at + width + 1).lastIndexOf(" ");
    if (space >= 0) {
      push(value.slice(at, at + space));
      at += space + 1;
    } else if (isHard) {
      push(value.slice(at, at + width));
      at += width;
    } else {
      const next = value.indexOf(" ", at + width);
      if (next < 0) return out.join("") + value.slice(at);
      push(value.slice(at, next));
      at = next + 1;
    }
  }
  return out.join("") + value.slice(at);
};

const split = (parts: readonly string[], context: Context): Value => {
  context.spend(parts.length / 16);
  return ofMap(new Map(parts.map((part, n) => [`_${n}`, ofString(part)])), STRING);
};
/** An empty separator splits after each code point. */
export const splitBy = (value: string, separator: string, most: bigint): readonly string[] => {
  if (most === 0n) return [];
  const all = separator === "" ? runesOf(value).map(bytesOfRune) : value.split(separator);
  if (most < 0n || BigInt(all.length) <= most) return all;
  const kept = all.slice(0, Number(most) - 1);
  return [...kept, all.slice(Number(most) - 1).join(separator)];
};

const indented = (spaces: Value | undefined, value: string, context: Context): string => {
  const pad = repeated(" ", int(spaces), context);
  return pad + replaced(value, "\n", `\n${pad}`, context);
};

const withContext = (
  parameters: readonly Parameter[],
  call: (args: readonly Value[], context: Context) => string,
  rest?: Parameter,
): GoFunction => ({
  parameters,
  ...(rest === undefined ? {} : { rest }),
  call: (args, context) => ofString(call(args, context)),
});

export const STRINGS: FunctionTable = {
  hello: pure([], () => ofString("Hello!")),
  abbrev: pure(["int", "string"], ([width, value]) =>
    ofString(int(width) < 4n ? text(value) : abbreviated(text(value), 0, count(width))),
  ),
  abbrevboth: pure(["int", "int", "string"], ([left, right, value]) =>
    ofString(
      int(right) < 4n || (int(left) > 0n && int(right) < 7n)
        ? text(value)
        : abbreviated(text(value), count(left), count(right)),
    ),
  ),
  trunc: pure(["int", "string"], ([length, value]) =>
    ofString(BigInt(text(value).length) <= int(length) ? text(value) : cut(text(value), 0n, int(length))),
  ),
  trim: mapped((value) => trimmed(value, isSpace)),
  upper: mapped(upper),
  lower: mapped(lower),
  title: mapped(title),
  untitle: mapped(untitle),
  substr: pure(["int", "int", "string"], ([start, end, value]) => {
    const from = int(start);
    const to = int(end);
    const size = BigInt(text(value).length);
    if (from < 0n) return ofString(cut(text(value), 0n, to));
    return ofString(cut(text(value), from, to < 0n || to > size ? size : to));
  }),
  repeat: withContext(["int", "string"], ([times, value], context) => repeated(text(value), int(times), context)),
  trimall: trimAll,
  trimAll,
  trimSuffix: pure(["string", "string"], ([suffix, value]) =>
    ofString(
      text(value).endsWith(text(suffix)) ? text(value).slice(0, text(value).length - text(suffix).length) : text(value),
    ),
  ),
  trimPrefix: pure(["string", "string"], ([prefix, value]) =>
    ofString(text(value).startsWith(text(prefix)) ? text(value).slice(text(prefix).length) : text(value)),
  ),
  nospace: mapped(noSpace),
  initials: mapped(initials),
  swapcase: mapped(swapCase),
  snakecase: mapped(snakeCase),
  camelcase: mapped(camelCase),
  kebabcase: mapped(kebabCase),
  wrap: withContext(["int", "string"], ([width, value], context) =>
    wrapped(text(value), count(width), "", false, context),
  ),
  wrapWith: withContext(["int", "string", "string"], ([width, line, value], context) =>
    wrapped(text(value), count(width), text(line), true, context),
  ),
  contains: pure(["string", "string"], ([part, value]) => ofBool(text(value).includes(text(part)))),
  hasPrefix: pure(["string", "string"], ([part, value]) => ofBool(text(value).startsWith(text(part)))),
  hasSuffix: pure(["string", "string"], ([part, value]) => ofBool(text(value).endsWith(text(part)))),
  quote: withContext(
    [],
    (args, context) => {
      let size = 0;
      return args
        .filter((value) => !isNil(value))
        .map((value) => {
          const quoted = quote(textOfValue(value, context));
          size += quoted.length;
          context.claim(size);
          return quoted;
        })
        .join(" ");
    },
    "any",
  ),
  squote: withContext(
    [],
    (args, context) => {
      const shown = args.filter((value) => !isNil(value));
      return printer(context).printf(shown.map(() => "'%v'").join(" "), shown);
    },
    "any",
  ),
  cat: withContext(
    [],
    (args, context) => {
      const shown = args.filter((value) => !isNil(value));
      return printer(context).printf(shown.map(() => "%v").join(" "), shown);
    },
    "any",
  ),
  indent: withContext(["int", "string"], ([spaces, value], context) => indented(spaces, text(value), context)),
  nindent: withContext(["int", "string"], ([spaces, value], context) => `\n${indented(spaces, text(value), context)}`),
  replace: withContext(["string", "string", "string"], ([old, by, value], context) =>
    replaced(text(value), text(old), text(by), context),
  ),
  plural: pure(["string", "string", "int"], ([one, many, number]) =>
    ofString(int(number) === 1n ? text(one) : text(many)),
  ),
  toString: withContext(["any"], ([value], context) => (value === undefined ? "" : textOfValue(value, context))),
  toStrings: {
    parameters: ["any"],
    call: ([value], context) => (value === undefined ? ofStrings([]) : ofStrings(textsOf(value, context))),
  },
  split: {
    parameters: ["string", "string"],
    call: ([by, value], context) => split(splitBy(text(value), text(by), -1n), context),
  },
  splitn: {
    parameters: ["string", "int", "string"],
    call: ([by, most, value], context) => split(splitBy(text(value), text(by), int(most)), context),
  },
  splitList: pure(["string", "string"], ([by, value]) => ofStrings(splitBy(text(value), text(by), -1n))),
  join: withContext(["string", "any"], ([by, value], context) => {
    let size = 0;
    const texts = value === undefined ? [] : textsOf(value, context);
    for (const one of texts) {
      size += one.length + text(by).length;
      context.claim(size);
    }
    return texts.join(text(by));
  }),
};
