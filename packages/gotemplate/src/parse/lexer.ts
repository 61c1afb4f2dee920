// Splits a template into tokens, as Go's text/template does.
import { bytesOfRune, runeAt, textOf } from "../value/bytes.ts";
import { isDigit, isLetter, isPrint } from "../value/unicode.ts";

export type TokenType =
  | "error"
  | "bool"
  | "char"
  | "character constant"
  | "assign"
  | "declare"
  | "end of text"
  | "field"
  | "identifier"
  | "left delimiter"
  | "left parenthesis"
  | "number"
  | "pipe"
  | "raw string"
  | "right delimiter"
  | "right parenthesis"
  | "space"
  | "string"
  | "text"
  | "variable"
  | "keyword"
  | "dot";

export interface Token {
  readonly type: TokenType;
  readonly value: string;
  readonly at: number;
}

const KEYWORDS = new Set([
  "block",
  "break",
  "continue",
  "define",
  "else",
  "end",
  "if",
  "range",
  "nil",
  "template",
  "with",
]);
const SPACES = " \t\r\n";
const DECIMAL = "0123456789_";
const HEX = "0123456789abcdefABCDEF_";

const isSpace = (char: string): boolean => char !== "" && SPACES.includes(char);
const isWord = (rune: number): boolean => rune === 0x5f || isLetter(rune) || isDigit(rune);

const quoted = (rune: number): string =>
  `U+${rune.toString(16).toUpperCase().padStart(4, "0")}${isPrint(rune) ? ` '${textOf(bytesOfRune(rune))}'` : ""}`;

const trimRight = (text: string): string => {
  let end = text.length;
  while (end > 0 && isSpace(text.charAt(end - 1))) end--;
  return text.slice(0, end);
};

/** All tokens; the last one is the end of the text, or an error. */
export const tokensOf = (input: string): readonly Token[] => {
  const tokens: Token[] = [];
  let at = 0;
  let depth = 0;

  const push = (type: TokenType, from: number): true => {
    tokens.push({ type, value: input.slice(from, at), at: from });
    return true;
  };
  const error = (message: string, from: number): false => {
    tokens.push({ type: "error", value: message, at: from });
    return false;
  };
  const trimsRight = (from: number): boolean => isSpace(input.charAt(from)) && input.charAt(from + 1) === "-";
  const skipSpaces = (): void => {
    while (isSpace(input.charAt(at))) at++;
  };
  const isTerminated = (): boolean => {
    const char = input.charAt(at);
    return char === "" || isSpace(char) || ".,|:)(".includes(char) || input.startsWith("}}", at);
  };
  const word = (): void => {
    for (;;) {
      const { rune, size } = runeAt(input, at);
      if (size === 0 || !isWord(rune)) return;
      at += size;
    }
  };
  const badCharacter = (from: number): false => {
    const { rune, size } = runeAt(input, at);
    return error(`bad character ${size === 0 ? "at the end" : quoted(rune)}`, from);
  };

  const accept = (chars: string): boolean => {
    if (at >= input.length || !chars.includes(input.charAt(at))) return false;
    at++;
    return true;
  };
  const acceptAll = (chars: string): void => {
    while (accept(chars));
  };
  const scanNumber = (): boolean => {
    accept("+-");
    let digits = DECIMAL;
    if (accept("0")) {
      if (accept("xX")) digits = HEX;
      else if (accept("oO")) digits = "01234567_";
      else if (accept("bB")) digits = "01_";
    }
    acceptAll(digits);
    if (accept(".")) acceptAll(digits);
    if ((digits === DECIMAL && accept("eE")) || (digits === HEX && accept("pP"))) {
      accept("+-");
      acceptAll(DECIMAL);
    }
    accept("i");
    const next = runeAt(input, at);
    return next.size === 0 || !isWord(next.rune);
  };
  const number = (from: number): boolean => {
    if (!scanNumber()) {
      at += runeAt(input, at).size;
      return error(`bad number syntax: "${textOf(input.slice(from, at))}"`, from);
    }
    const sign = input.charAt(at);
    if ((sign === "+" || sign === "-") && (!scanNumber() || input.charAt(at - 1) !== "i"))
      return error(`bad number syntax: "${textOf(input.slice(from, at))}"`, from);
    return push("number", from);
  };

  const quote = (end: string, what: string, type: TokenType, from: number): boolean => {
    for (;;) {
      const char = input.charAt(at++);
      if (char === end) return push(type, from);
      if (char === "\\") {
        const next = input.charAt(at++);
        if (next === "" || next === "\n") return error(`unterminated ${what}`, from);
      } else if (char === "" || char === "\n") return error(`unterminated ${what}`, from);
    }
  };

  const space = (from: number): boolean => {
    skipSpaces();
    if (trimsRight(at - 1) && input.startsWith("}}", at + 1)) at--;
    return at === from || push("space", from);
  };

  /** One token of an action. */
  const inside = (): boolean => {
    const from = at;
    const char = input.charAt(at);
    switch (char) {
      case "":
        return error("unclosed action", from);
      case " ":
      case "\t":
      case "\r":
      case "\n":
        return space(from);
      case "=":
        at++;
        return push("assign", from);
      case ":":
        if (input.charAt(at + 1) !== "=") return error("expected :=", from);
        at += 2;
        return push("declare", from);
      case "|":
        at++;
        return push("pipe", from);
      case '"':
        at++;
        return quote('"', "quoted string", "string", from);
      case "'":
        at++;
        return quote("'", "character constant", "character constant", from);
      case "`": {
        const end = input.indexOf("`", at + 1);
        if (end < 0) return error("unterminated raw quoted string", from);
        at = end + 1;
        return push("raw string", from);
      }
      case "(":
        at++;
        depth++;
        return push("left parenthesis", from);
      case ")":
        at++;
        if (--depth < 0) return error("unexpected right parenthesis", from);
        return push("right parenthesis", from);
      case "$":
      case ".": {
        const next = input.charAt(at + 1);
        if (char === "." && next >= "0" && next <= "9") return number(from);
        at++;
        if (isTerminated()) return push(char === "$" ? "variable" : "dot", from);
        word();
        return isTerminated() ? push(char === "$" ? "variable" : "field", from) : badCharacter(from);
      }
      default:
    }
    if (char === "+" || char === "-" || (char >= "0" && char <= "9")) return number(from);
    const { rune, size } = runeAt(input, at);
    if (isWord(rune)) {
      word();
      if (!isTerminated()) return badCharacter(from);
      const name = input.slice(from, at);
      return push(name === "true" || name === "false" ? "bool" : KEYWORDS.has(name) ? "keyword" : "identifier", from);
    }
    at += size;
    return rune < 0x80 && isPrint(rune)
      ? push("char", from)
      : error(`unrecognized character in action: ${quoted(rune)}`, from);
  };

  const action = (): boolean => {
    depth = 0;
    for (;;) {
      const trims = trimsRight(at) && input.startsWith("}}", at + 2);
      if (trims || input.startsWith("}}", at)) {
        if (depth > 0) return error("unclosed left parenthesis", at);
        if (trims) at += 2;
        const from = at;
        at += 2;
        push("right delimiter", from);
        if (trims) skipSpaces();
        return true;
      }
      if (!inside()) return false;
    }
  };

  const comment = (from: number): boolean => {
    const end = input.indexOf("*/", at + 2);
    if (end < 0) return error("unclosed comment", from);
    at = end + 2;
    const trims = trimsRight(at) && input.startsWith("}}", at + 2);
    if (!trims && !input.startsWith("}}", at)) return error("comment ends before closing delimiter", from);
    at += trims ? 4 : 2;
    if (trims) skipSpaces();
    return true;
  };

  for (;;) {
    const open = input.indexOf("{{", at);
    const isTrimmed = open >= 0 && input.charAt(open + 2) === "-" && isSpace(input.charAt(open + 3));
    const piece = input.slice(at, open < 0 ? input.length : open);
    const text = isTrimmed ? trimRight(piece) : piece;
    if (text !== "") tokens.push({ type: "text", value: text, at });
    if (open < 0) {
      tokens.push({ type: "end of text", value: "EOF", at: input.length });
      return tokens;
    }
    at = open + 2;
    const afterMarker = isTrimmed ? 2 : 0;
    if (input.startsWith("/*", at + afterMarker)) {
      at += afterMarker;
      if (!comment(open)) return tokens;
      continue;
    }
    push("left delimiter", open);
    at += afterMarker;
    if (!action()) return tokens;
  }
};
