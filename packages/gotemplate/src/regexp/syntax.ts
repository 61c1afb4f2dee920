// Parses regular expressions in the syntax of RE2, as Go's regexp reads it.
import { fail } from "../template-error.ts";
import { INVALID_RUNE, runeAt, runesOf, textOf } from "../value/bytes.ts";
import { foldsOf } from "./fold.ts";

export type Test = (rune: number) => boolean;
export type Assertion = "text start" | "text end" | "line start" | "line end" | "word boundary" | "no word boundary";

export type Expression =
  | { readonly is: "rune"; readonly test: Test }
  | { readonly is: "assertion"; readonly assertion: Assertion }
  | { readonly is: "sequence" | "alternatives"; readonly parts: readonly Expression[] }
  | { readonly is: "group"; readonly index: number; readonly of: Expression }
  | {
      readonly is: "repeat";
      readonly of: Expression;
      readonly least: number;
      readonly most: number;
      readonly isLazy: boolean;
    };

export interface Syntax {
  readonly expression: Expression;
  /** Of groups, the whole one first; those without a name are "". */
  readonly names: readonly string[];
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

const MOST_REPEATS = 1000;
const DEPTH = 200;

const range =
  (...ranges: readonly (readonly [number, number])[]): Test =>
  (rune) =>
    ranges.some(([from, to]) => rune >= from && rune <= to);
const not =
  (test: Test): Test =>
  (rune) =>
    !test(rune);

const isDigit = range([48, 57]);
const isWordRune = range([48, 57], [65, 90], [95, 95], [97, 122]);
const isBlank = range([9, 10], [12, 13], [32, 32]);
const PERL: Readonly<Record<string, Test>> = {
  d: isDigit,
  D: not(isDigit),
  s: isBlank,
  S: not(isBlank),
  w: isWordRune,
  W: not(isWordRune),
};
const POSIX: Readonly<Record<string, Test>> = {
  alnum: range([48, 57], [65, 90], [97, 122]),
  alpha: range([65, 90], [97, 122]),
  ascii: range([0, 127]),
  blank: range([9, 9], [32, 32]),
  cntrl: range([0, 31], [127, 127]),
  digit: isDigit,
  graph: range([33, 126]),
  lower: range([97, 122]),
  print: range([32, 126]),
  punct: range([33, 47], [58, 64], [91, 96], [123, 126]),
  space: range([9, 13], [32, 32]),
  upper: range([65, 90]),
  word: isWordRune,
  xdigit: range([48, 57], [65, 70], [97, 102]),
};
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

const unicodeClass = (name: string): Test | undefined => {
  if (name === "Any") return () => true;
  if (!/^[A-Za-z_]+$/u.test(name)) return undefined;
  for (const property of [`gc=${name}`, `sc=${name}`]) {
    try {
      const pattern = new RegExp(`\\p{${property}}`, "u");
      return (rune) => pattern.test(String.fromCodePoint(rune));
    } catch {
      // There is no such property: it may be of the other kind.
    }
  }
  return undefined;
};

/** How often a part may be repeated in all, with what it is nested in. */
const repeatsAtMost = (expression: Expression, limit: number): boolean => {
  switch (expression.is) {
    case "repeat": {
      const { least, most } = expression;
      const times = most === Infinity ? least : most;
      // Of *, + and ? nothing is copied.
      if ((least === 0 && most === 1) || (most === Infinity && least <= 1)) return repeatsAtMost(expression.of, limit);
      if (most === 0) return true;
      return times <= limit && repeatsAtMost(expression.of, times > 0 ? Math.floor(limit / times) : limit);
    }
    case "group":
      return repeatsAtMost(expression.of, limit);
    case "sequence":
    case "alternatives":
      return expression.parts.every((part) => repeatsAtMost(part, limit));
    case "assertion":
    case "rune":
    default:
      return true;
  }
};

const ofTest = (test: Test): Expression => ({ is: "rune", test });

const assertion = (kind: Assertion): Expression => ({ is: "assertion", assertion: kind });

/** Gives up with what is wrong with it. */
export const parseRegexp = (source: string): Syntax => {
  let at = 0;
  let flags: Flags = { i: false, m: false, s: false, U: false };
  const names: string[] = [""];
  let depth = 0;

  const refuse = (what: string): never => fail(`regular expression ${textOf(source)}: ${what}`);
  const folded = (test: Test): Test => (flags.i ? (rune) => foldsOf(rune).some(test) : test);
  const literal = (rune: number): Expression => ofTest(folded((other) => other === rune));
  const take = (): number => {
    const { rune, size } = runeAt(source, at);
    if (rune === INVALID_RUNE && size === 1) refuse("invalid UTF-8");
    at += size;
    return rune;
  };

  /** A number in braces; nothing, where they are literal. */
  const repetition = (): { readonly least: number; readonly most: number } | undefined => {
    const match = /^\{([0-9]+)(?:(,)([0-9]*))?\}/u.exec(source.slice(at, at + 32));
    if (match === null) return undefined;
    const [text, first = "", comma, second] = match;
    // Numbers do not begin with zeros.
    if (/^0[0-9]/u.test(first) || /^0[0-9]/u.test(second ?? "")) return undefined;
    const least = Number(first);
    const most = comma === undefined ? least : second === "" || second === undefined ? Infinity : Number(second);
    if (least > MOST_REPEATS || (most !== Infinity && (most > MOST_REPEATS || least > most)))
      refuse(`invalid repeat count ${text}`);
    at += text.length;
    return { least, most };
  };

  const property = (): Test => {
    const isNegative = source.charAt(at + 1) === "P";
    at += 2;
    let name = String.fromCodePoint(take());
    let isInverted = isNegative;
    if (name === "{") {
      const end = source.indexOf("}", at);
      if (end < 0) return refuse("invalid character class range");
      name = source.slice(at, end);
      at = end + 1;
    }
    if (name.startsWith("^")) {
      isInverted = !isInverted;
      name = name.slice(1);
    }
    const test = unicodeClass(name) ?? refuse("invalid character class range");
    const all = folded(test);
    return isInverted ? not(all) : all;
  };

  /** One code point behind a backslash. */
  const escape = (): number => {
    at++;
    if (at >= source.length) return refuse("trailing backslash at the end");
    const char = source.charAt(at);
    const control = CONTROLS[char];
    if (control !== undefined) {
      at++;
      return control;
    }
    if (/^(?:[1-7][0-7]|0)/u.test(source.slice(at, at + 2))) {
      const digits = /^[0-7]{1,3}/u.exec(source.slice(at, at + 3))?.[0] ?? "0";
      at += digits.length;
      return Number.parseInt(digits, 8);
    }
    if (char === "x") {
      const match = /^x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))/u.exec(source.slice(at, at + 40));
      const rune = Number.parseInt(match?.[1] ?? match?.[2] ?? "", 16);
      if (match === null || rune > 0x10_ffff) return refuse("invalid escape sequence");
      at += match[0].length;
      return rune;
    }
    if (char.charCodeAt(0) < 0x80 && !/\w/u.test(char)) {
      at++;
      return char.charCodeAt(0);
    }
    if (char === "_") return refuse("invalid escape sequence");
    return refuse(`invalid escape sequence: \\${char}`);
  };

  const classRune = (): number => {
    if (at >= source.length) return refuse("missing closing ]");
    return source.charAt(at) === "\\" ? escape() : take();
  };
  const classOf = (): Expression => {
    at++;
    const isNegative = source.charAt(at) === "^";
    if (isNegative) at++;
    const tests: Test[] = [];
    for (let isFirst = true; at >= source.length || source.charAt(at) !== "]" || isFirst; isFirst = false) {
      if (at >= source.length) return refuse("missing closing ]");
      const posix = /^\[:(\^?)([A-Za-z]*):\]/u.exec(source.slice(at, at + 20));
      if (posix !== null) {
        const test = POSIX[posix[2] ?? ""] ?? refuse("invalid character class range");
        const all = folded(test);
        tests.push(posix[1] === "^" ? not(all) : all);
        at += posix[0].length;
        continue;
      }
      const next = source.charAt(at) === "\\" ? source.charAt(at + 1) : "";
      const perl = next === "" ? undefined : PERL[next];
      if (perl !== undefined) {
        const all = folded(next.toLowerCase() === next ? perl : not(perl));
        tests.push(next.toLowerCase() === next ? all : not(all));
        at += 2;
        continue;
      }
      if (next === "p" || next === "P") {
        tests.push(property());
        continue;
      }
      const from = classRune();
      let to = from;
      if (source.charAt(at) === "-" && at + 1 < source.length && source.charAt(at + 1) !== "]") {
        at++;
        to = classRune();
        if (to < from) return refuse("invalid character class range");
      }
      tests.push(folded(range([from, to])));
    }
    at++;
    const any: Test = (rune) => tests.some((test) => test(rune));
    return ofTest(isNegative ? not(any) : any);
  };

  const group = (): Expression => {
    const before = flags;
    const nested = (index: number | undefined): Expression => {
      if (++depth > DEPTH) refuse("expression nests too deeply");
      const of = alternatives();
      depth--;
      if (source.charAt(at) !== ")") refuse("missing closing )");
      at++;
      flags = before;
      return index === undefined ? of : { is: "group", index, of };
    };
    const capture = (name: string): Expression => {
      const index = names.length;
      names.push(name);
      return nested(index);
    };
    if (!source.startsWith("(?", at)) {
      at++;
      return capture("");
    }
    const named = /^\(\?P?<(\w+)>/u.exec(source.slice(at));
    if (named !== null) {
      const [text, name = ""] = named;
      if (names.includes(name)) refuse("duplicate capture group name");
      at += text.length;
      return capture(name);
    }
    const set = /^\(\?([imsU]*)(?:-([imsU]+))?([:)])/u.exec(source.slice(at));
    if (set === null) return refuse("invalid or unsupported Perl syntax");
    const [text, on = "", off = "", end] = set;
    if (on === "" && off === "" && end === ")") return refuse("missing argument to flags");
    at += text.length;
    const flag = (name: keyof Flags): boolean => (flags[name] || on.includes(name)) && !off.includes(name);
    flags = { i: flag("i"), m: flag("m"), s: flag("s"), U: flag("U") };
    // Flags on their own hold up to the end of the group that they are in.
    return end === ")" ? { is: "sequence", parts: [] } : nested(undefined);
  };

  const atom = (): Expression => {
    const char = source.charAt(at);
    switch (char) {
      case "(":
        return group();
      case "[":
        return classOf();
      case ".":
        at++;
        return ofTest(flags.s ? () => true : (rune) => rune !== 10);
      case "^":
        at++;
        return assertion(flags.m ? "line start" : "text start");
      case "$":
        at++;
        return assertion(flags.m ? "line end" : "text end");
      case "\\":
        break;
      default:
        return literal(take());
    }
    const next = source.charAt(at + 1);
    const perl = PERL[next];
    if (perl !== undefined && next !== "") {
      at += 2;
      const isPositive = next.toLowerCase() === next;
      const all = folded(isPositive ? perl : not(perl));
      return ofTest(isPositive ? all : not(all));
    }
    switch (next) {
      case "A":
        at += 2;
        return assertion("text start");
      case "z":
        at += 2;
        return assertion("text end");
      case "b":
        at += 2;
        return assertion("word boundary");
      case "B":
        at += 2;
        return assertion("no word boundary");
      case "p":
      case "P":
        return ofTest(property());
      default:
        return literal(escape());
    }
  };

  const repeated = (one: Expression): Expression => {
    let expression = one;
    for (let isRepeated = false; ; isRepeated = true) {
      const char = source.charAt(at);
      const isBrace = char === "{";
      if (char === "" || !"*+?{".includes(char)) return expression;
      const from = at;
      const simple = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[char];
      let bounds = simple === undefined ? undefined : { least: simple[0] as number, most: simple[1] as number };
      if (isBrace) {
        bounds = repetition();
        if (bounds === undefined) return expression;
      } else at++;
      if (bounds === undefined) return expression;
      let isLazy = flags.U;
      if (source.charAt(at) === "?") {
        at++;
        isLazy = !isLazy;
      }
      if (isRepeated) refuse(`invalid nested repetition operator at ${from}`);
      expression = { is: "repeat", of: expression, ...bounds, isLazy };
      if (isBrace && !repeatsAtMost(expression, MOST_REPEATS)) refuse("invalid repeat count");
    }
  };

  const sequence = (): Expression => {
    const parts: Expression[] = [];
    while (at < source.length && source.charAt(at) !== "|" && source.charAt(at) !== ")") {
      if (source.startsWith("\\Q", at)) {
        const end = source.indexOf("\\E", at + 2);
        const to = end < 0 ? source.length : end;
        const quoted = runesOf(source.slice(at + 2, to)).map(literal);
        at = end < 0 ? to : to + 2;
        const last = quoted.pop() ?? parts.pop();
        parts.push(...quoted, ...(last === undefined ? [] : [repeated(last)]));
        continue;
      }
      if ("*+?".includes(source.charAt(at)) || (source.charAt(at) === "{" && repetition() !== undefined))
        refuse("missing argument to repetition operator");
      const isFlags = /^\(\?[imsU-]*\)/u.test(source.slice(at));
      const one = atom();
      if (isFlags) {
        if (/^[*+?]/u.test(source.slice(at))) {
          // Go applies it to what is before the flags.
          const before = parts.pop() ?? refuse("missing argument to repetition operator");
          parts.push(repeated(before));
        }
        continue;
      }
      parts.push(repeated(one));
    }
    return { is: "sequence", parts };
  };
  const alternatives = (): Expression => {
    const parts = [sequence()];
    while (source.charAt(at) === "|") {
      at++;
      parts.push(sequence());
    }
    return parts.length === 1 ? (parts[0] as Expression) : { is: "alternatives", parts };
  };

  const expression = alternatives();
  if (at < source.length) refuse("unexpected )");
  return { expression, names };
};
