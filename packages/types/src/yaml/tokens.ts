// Splits YAML into tokens as go-yaml does.
import { refuseAt } from "./yaml-error.ts";

/** The position where something begins. `index` counts characters from the start. */
interface Mark {
  readonly line: number;
  readonly column: number;
  readonly index: number;
}

export type Token = Mark &
  (
    | { readonly type: "scalar"; readonly value: string; readonly plain: boolean }
    | { readonly type: "alias" | "anchor"; readonly value: string }
    | { readonly type: "tag"; readonly value: string }
    | { readonly type: Structure }
  );

type Structure =
  | ("block list" | "block map" | "block end" | "entry" | "key" | "value")
  | ("[" | "]" | "{" | "}" | ",")
  | "document end"
  | "end";

/** A token that may turn out to be a key, once a colon is found. */
interface PossibleKey extends Mark {
  /** The index of the token. */
  readonly at: number;
  /** Nothing but a key can be there. */
  readonly required: boolean;
}

const END = "\0";
const BREAKS = "\r\n\u0085\u2028\u2029";
const isBreak = (char: string): boolean => BREAKS.includes(char);
const isBlank = (char: string): boolean => char === " " || char === "\t";
const isBreakOrEnd = (char: string): boolean => char === END || isBreak(char);
const isSpaceOrEnd = (char: string): boolean => isBlank(char) || isBreakOrEnd(char);
const isWord = (char: string): boolean => /^[\w-]$/u.test(char);
const isLowSurrogate = (char: string): boolean => char >= "\uDC00" && char <= "\uDFFF";

/** Characters after a backslash; at the same indices of {@link UNESCAPED} is what they stand for. The slash is of JSON. */
const ESCAPED = "0abt\tnvfre \"'\\N_LP/";
const UNESCAPED = "\0\u0007\b\t\t\n\v\f\r\u001B \"'\\\u0085\u00A0\u2028\u2029/";
const CODE_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Characters with which no plain text begins; `-`, `?` and `:` may, if none that ends them follows. */
const INDICATORS = ",[]{}#&*!|>'\"%@`";
/** The most characters of a key that is not marked by `?`. */
const LONGEST_KEY = 1024;

/** A break as it is kept in a text. */
const kept = (line: string): string => (line === "\u2028" || line === "\u2029" ? line : "\n");

/** How breaks between two lines are read: one is a space, of more the first is dropped. */
const folded = (first: string, others: string): string => {
  if (first !== "\n") return first + others;
  return others === "" ? " " : others;
};

/**
 * The tokens of a document of YAML, by the rules of the reader of kubectl: the scanner of go-yaml v2, which is that of libyaml.
 * https://github.com/yaml/go-yaml/blob/v2.4.3/scannerc.go
 *
 * Other parsers of YAML have other rules for indentation, tabs, line breaks and colons, and so read other values.
 *
 * Errors: {@link YamlError}.
 */
export const tokensOf = (text: string): readonly Token[] => {
  const tokens: Token[] = [];
  let at = 0;
  let line = 0;
  let column = 0;
  let index = 0;
  /** Column of the innermost block; -1 outside of all. */
  let indent = -1;
  const outerIndents: number[] = [];
  let isKeyAllowed = true;
  /** One for each level of `[` and `{`, and that of blocks. */
  const possibleKeys: (PossibleKey | undefined)[] = [undefined];
  const isFlow = (): boolean => possibleKeys.length > 1;

  const char = (ahead = 0): string => text[at + ahead] ?? END;
  const mark = (): Mark => ({ line, column, index });
  const fail = (message: string, where: Mark = mark()): never => refuseAt(message, where);

  const next = (): string => {
    const one = char();
    at += 1;
    if (!isLowSurrogate(one)) {
      column += 1;
      index += 1;
    }
    return one;
  };
  const skip = (count: number): void => {
    for (let left = count; left > 0; left -= 1) next();
  };
  const nextLine = (): string => {
    const one = kept(char());
    at += char() === "\r" && char(1) === "\n" ? 2 : 1;
    index += 1;
    line += 1;
    column = 0;
    return one;
  };
  const skipBlanks = (): void => {
    while (isBlank(char())) next();
  };
  const skipComment = (): void => {
    if (char() === "#") while (!isBreakOrEnd(char())) next();
  };
  const isDocumentMark = (): boolean =>
    column === 0 && ["---", "..."].includes(text.slice(at, at + 3)) && isSpaceOrEnd(char(3));

  const put = (type: Structure, where: Mark = mark()): void => void tokens.push({ type, ...where });

  const openBlock = (type: "block list" | "block map", where: Mark, token = tokens.length): void => {
    if (isFlow() || indent >= where.column) return;
    outerIndents.push(indent);
    indent = where.column;
    tokens.splice(token, 0, { type, ...where });
  };
  const closeBlocks = (to: number): void => {
    if (isFlow()) return;
    while (indent > to) {
      put("block end");
      indent = outerIndents.pop() ?? -1;
    }
  };

  const forgetKey = (): void => {
    const key = possibleKeys.at(-1);
    if (key?.required === true) fail("this key has no colon, or the line before it is not finished", key);
    possibleKeys[possibleKeys.length - 1] = undefined;
  };
  const expectKey = (): void => {
    if (!isKeyAllowed) return;
    forgetKey();
    const required = !isFlow() && indent === column;
    possibleKeys[possibleKeys.length - 1] = { ...mark(), at: tokens.length, required };
  };
  /** The one to which a colon here belongs. */
  const keyOfColon = (): PossibleKey | undefined => {
    const key = possibleKeys.at(-1);
    if (key === undefined || (key.line === line && index - key.index <= LONGEST_KEY)) return key;
    forgetKey();
    return undefined;
  };

  const scanMark = (type: "alias" | "anchor"): void => {
    expectKey();
    isKeyAllowed = false;
    const where = mark();
    next();
    let value = "";
    while (isWord(char())) value += next();
    if (value === "" || !(isSpaceOrEnd(char()) || "?:,]}%@`".includes(char())))
      fail(`the name of an ${type} has letters, digits, - and _ only`, where);
    tokens.push({ type, value, ...where });
  };

  const scanTag = (): void => {
    expectKey();
    isKeyAllowed = false;
    const where = mark();
    let value = "";
    while (!isSpaceOrEnd(char())) value += next();
    tokens.push({ type: "tag", value, ...where });
  };

  /** Indentation and empty lines before a line of a block of text. `width` 0: to be found out. */
  const scanEmptyLines = (width: number): { readonly breaks: string; readonly width: number } => {
    let breaks = "";
    let widest = 0;
    const isIndentation = (blank: string): boolean => char() === blank && (width === 0 || column < width);
    for (;;) {
      while (isIndentation(" ")) next();
      widest = Math.max(widest, column);
      if (isIndentation("\t")) fail("a tab where spaces have to indent");
      if (!isBreak(char())) break;
      breaks += nextLine();
    }
    return { breaks, width: width === 0 ? Math.max(widest, indent + 1, 1) : width };
  };

  const scanBlockText = (isLiteral: boolean): void => {
    forgetKey();
    isKeyAllowed = true;
    const where = mark();
    next();
    const [, before = "", chomping = "", after = ""] = /^([1-9]?)([-+]?)([1-9]?)/u.exec(text.slice(at, at + 3)) ?? [];
    const increment = before === "" ? after : before;
    skip(before.length + chomping.length + (before === "" ? after.length : 0));
    skipBlanks();
    skipComment();
    if (!isBreakOrEnd(char())) fail("after | or > there is only a digit, + or -, and a comment, in its line");
    if (isBreak(char())) nextLine();
    let { breaks, width } = scanEmptyLines(increment === "" ? 0 : Math.max(indent, 0) + Number(increment));
    let value = "";
    let lastBreak = "";
    let wasIndented = false;
    while (column === width && char() !== END) {
      const isIndented = isBlank(char());
      if (isLiteral || wasIndented || isIndented || lastBreak !== "\n") value += lastBreak;
      else if (breaks === "") value += " ";
      value += breaks;
      wasIndented = isIndented;
      while (!isBreakOrEnd(char())) value += next();
      lastBreak = isBreak(char()) ? nextLine() : "";
      ({ breaks, width } = scanEmptyLines(width));
    }
    if (chomping !== "-") value += lastBreak;
    if (chomping === "+") value += breaks;
    tokens.push({ type: "scalar", value, plain: false, ...where });
  };

  const scanCode = (length: number, where: Mark): string => {
    const digits = text.slice(at, at + length);
    if (!new RegExp(`^[0-9a-fA-F]{${length}}$`, "u").test(digits)) fail("an escape without its hexadecimal digits");
    skip(length);
    const code = Number.parseInt(digits, 16);
    const [, low = ""] = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/u.exec(text.slice(at, at + 6)) ?? [];
    // Two of JSON are one character.
    if (length === 4 && code >= 0xd8_00 && code < 0xdc_00 && low !== "") {
      skip(6);
      return String.fromCharCode(code, Number.parseInt(low, 16));
    }
    if ((code >= 0xd8_00 && code < 0xe0_00) || code > 0x10_ff_ff) fail("an escape that is no character", where);
    return String.fromCodePoint(code);
  };

  /** Blanks and breaks within a text in one or more lines. `broken`: a break before them has been taken. */
  const scanGap = (broken: boolean, checkTab: () => void): { readonly read: string; readonly isBroken: boolean } => {
    let blanks = "";
    let first: string | undefined = broken ? "" : undefined;
    let others = "";
    while (isBlank(char()) || isBreak(char())) {
      if (isBreak(char())) {
        if (first === undefined) first = nextLine();
        else others += nextLine();
      } else if (first === undefined) blanks += next();
      else {
        checkTab();
        next();
      }
    }
    if (first === undefined) return { read: blanks, isBroken: false };
    // After an escaped break, nothing stands for it.
    return { read: broken ? others : folded(first, others), isBroken: true };
  };

  const scanQuoted = (quote: string): void => {
    expectKey();
    isKeyAllowed = false;
    const where = mark();
    next();
    let value = "";
    for (;;) {
      if (isDocumentMark()) fail("a quoted text is not closed before the end of the document", where);
      if (char() === END) fail("a quoted text is not closed", where);
      let isEscapedBreak = false;
      while (!isSpaceOrEnd(char()) && !isEscapedBreak) {
        if (quote === "'" && char() === "'" && char(1) === "'") {
          value += "'";
          skip(2);
        } else if (char() === quote) break;
        else if (quote === '"' && char() === "\\" && isBreak(char(1))) {
          next();
          nextLine();
          isEscapedBreak = true;
        } else if (quote === '"' && char() === "\\") {
          const escape = mark();
          next();
          const letter = next();
          const length = CODE_LENGTHS[letter];
          if (length !== undefined) value += scanCode(length, escape);
          else if (ESCAPED.includes(letter)) value += UNESCAPED.charAt(ESCAPED.indexOf(letter));
          else fail("an escape that YAML does not have", escape);
        } else value += next();
      }
      if (char() === quote) break;
      value += scanGap(isEscapedBreak, () => {}).read;
    }
    next();
    tokens.push({ type: "scalar", value, plain: false, ...where });
  };

  const scanPlain = (): void => {
    expectKey();
    isKeyAllowed = false;
    const where = mark();
    let value = "";
    let gap = "";
    let isBroken = false;
    while (!isDocumentMark() && char() !== "#") {
      while (!isSpaceOrEnd(char())) {
        if (char() === ":" && isSpaceOrEnd(char(1))) break;
        if (isFlow() && ",?[]{}".includes(char())) break;
        value += gap + next();
        gap = "";
        isBroken = false;
      }
      if (!isBlank(char()) && !isBreak(char())) break;
      const found = scanGap(false, () => {
        if (column <= indent && char() === "\t") fail("a tab where spaces have to indent");
      });
      gap = found.read;
      isBroken = found.isBroken;
      if (!isFlow() && column <= indent) break;
    }
    tokens.push({ type: "scalar", value, plain: true, ...where });
    if (isBroken) isKeyAllowed = true;
  };

  /** A tab indents nothing. */
  const isGap = (): boolean => char() === " " || (char() === "\t" && (isFlow() || !isKeyAllowed));
  const skipToToken = (): void => {
    for (;;) {
      while (isGap()) next();
      skipComment();
      if (!isBreak(char())) return;
      nextLine();
      if (!isFlow()) isKeyAllowed = true;
    }
  };

  const openFlow = (type: "[" | "{"): void => {
    expectKey();
    possibleKeys.push(undefined);
    isKeyAllowed = true;
    put(type);
    next();
  };
  const closeFlow = (type: "]" | "}"): void => {
    forgetKey();
    if (isFlow()) possibleKeys.pop();
    isKeyAllowed = false;
    put(type);
    next();
  };
  /** An indicator before a part of a block: `-`, or `?`, or `:` of a key that such a one begins. */
  const openPart = (type: "block list" | "block map", message: string): void => {
    if (isFlow()) return;
    if (!isKeyAllowed) fail(message);
    openBlock(type, mark());
  };
  const scanColon = (): void => {
    const key = keyOfColon();
    if (key === undefined) {
      openPart("block map", "a colon where no key can be: put the text in quotes, or indent it as what is around it");
      isKeyAllowed = !isFlow();
    } else {
      tokens.splice(key.at, 0, { type: "key", line: key.line, column: key.column, index: key.index });
      openBlock("block map", key, key.at);
      possibleKeys[possibleKeys.length - 1] = undefined;
      isKeyAllowed = false;
    }
    put("value");
    next();
  };

  /** @returns whether there is one more. */
  const scanToken = (): boolean => {
    skipToToken();
    closeBlocks(column);
    const one = char();
    const isAlone = isSpaceOrEnd(char(1));
    if (one === END || isDocumentMark()) {
      closeBlocks(-1);
      forgetKey();
      isKeyAllowed = false;
      put(one === END ? "end" : "document end");
      skip(one === END ? 0 : 3);
      return one !== END;
    }
    if (column === 0 && one === "%") fail("kubectl reads no directives (%): leave the line out");
    if (one === "[" || one === "{") openFlow(one);
    else if (one === "]" || one === "}") closeFlow(one);
    else if (one === ",") {
      forgetKey();
      isKeyAllowed = true;
      put(",");
      next();
    } else if (one === "-" && isAlone) {
      openPart("block list", "a list cannot begin here");
      forgetKey();
      isKeyAllowed = true;
      put("entry");
      next();
    } else if (one === "?" && (isFlow() || isAlone)) {
      openPart("block map", "a key cannot begin here");
      forgetKey();
      isKeyAllowed = !isFlow();
      put("key");
      next();
    } else if (one === ":" && (isFlow() || isAlone)) scanColon();
    else if (one === "*") scanMark("alias");
    else if (one === "&") scanMark("anchor");
    else if (one === "!") scanTag();
    else if ((one === "|" || one === ">") && !isFlow()) scanBlockText(one === "|");
    else if (one === "'" || one === '"') scanQuoted(one);
    else if (one === "\t") fail("a tab where spaces have to indent");
    else if (INDICATORS.includes(one)) fail("no text begins with this character: put it in quotes");
    else scanPlain();
    return true;
  };

  while (scanToken());
  return tokens;
};
