// Splits a template into text and the tokens of its actions.
import * as E from "fp-ts/lib/Either.js";

export type TokenType =
  | "text"
  | "left"
  | "right"
  | "space"
  | "identifier"
  | "keyword"
  | "field"
  | "variable"
  | "dot"
  | "nil"
  | "boolean"
  | "number"
  | "char"
  | "string"
  | "pipe"
  | "("
  | ")"
  | ","
  | "="
  | ":="
  | "end of template";

export interface Token {
  readonly type: TokenType;
  readonly text: string;
  readonly line: number;
  readonly at: number;
}

const KEYWORDS = ["block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"];

/** White space that a trim marker takes away. */
const BEFORE = /[ \t\r\n]*$/u;
const AFTER = /^[ \t\r\n]*/u;

const WORD = /^[\p{L}\p{N}_]+/u;
const NUMBER = /^[+-]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9_]*\.?[0-9_]*([eE][+-]?[0-9_]+)?)i?/u;
const STRING = /^"(?:[^"\\\n]|\\[^\n])*"/u;
const RAW = /^`[^`]*`/u;
const CHAR = /^'(?:[^'\\\n]|\\[^\n])+'/u;

const problem = (line: number, what: string): E.Either<string, never> => E.left(`template, line ${line}: ${what}`);

/** A token that follows another one must be set apart by one of these. */
const isEnd = (rest: string): boolean => rest === "" || /^([ \t\r\n.,|:)(=]|-?\}\})/u.test(rest);

/** The next token of an action; its type and length. Left: what is wrong. */
const tokenAt = (rest: string): E.Either<string, readonly [TokenType, number]> => {
  const of = (type: TokenType, text: string): E.Either<string, readonly [TokenType, number]> =>
    E.right([type, text.length]);
  const [first = ""] = rest;
  const space = /^[ \t\r\n]+/u.exec(rest)?.[0];
  if (space !== undefined) return of("space", space);
  if (rest.startsWith(":=")) return of(":=", ":=");
  if (first === "=") return of("=", "=");
  if (first === "|") return of("pipe", "|");
  if (first === "(" || first === ")" || first === ",") return of(first, first);
  if (first === '"') {
    const text = STRING.exec(rest)?.[0];
    return text === undefined ? E.left("a string has no end") : of("string", text);
  }
  if (first === "`") {
    const text = RAW.exec(rest)?.[0];
    return text === undefined ? E.left("a raw string has no end") : of("string", text);
  }
  if (first === "'") {
    const text = CHAR.exec(rest)?.[0];
    return text === undefined ? E.left("a character constant has no end") : of("char", text);
  }
  if (first === "$" || (first === "." && !/^\.[0-9]/u.test(rest))) {
    const word = WORD.exec(rest.slice(1))?.[0] ?? "";
    const text = `${first}${word}`;
    if (!isEnd(rest.slice(text.length))) return E.left(`unexpected ${JSON.stringify(rest[text.length])} after ${text}`);
    if (first === "$") return of("variable", text);
    return of(word === "" ? "dot" : "field", text);
  }
  if (/^[0-9.]/u.test(rest) || /^[+-]/u.test(rest)) {
    const text = NUMBER.exec(rest)?.[0] ?? "";
    if (text === "" || text === "+" || text === "-" || WORD.test(rest.slice(text.length)))
      return E.left(`not a number: ${JSON.stringify(/^[^\s)}|]*/u.exec(rest)?.[0])}`);
    return of("number", text);
  }
  const word = WORD.exec(rest)?.[0];
  if (word === undefined) return E.left(`unexpected ${JSON.stringify(first)}`);
  if (!isEnd(rest.slice(word.length))) return E.left(`unexpected ${JSON.stringify(rest[word.length])} after ${word}`);
  if (KEYWORDS.includes(word)) return of("keyword", word);
  if (word === "true" || word === "false") return of("boolean", word);
  return of(word === "nil" ? "nil" : "identifier", word);
};

const lines = (text: string): number => text.split("\n").length - 1;

/** All tokens of a template. Left: what is wrong, with its line. */
export const tokens = (source: string): E.Either<string, readonly Token[]> => {
  const found: Token[] = [];
  let at = 0;
  let line = 1;
  const push = (type: TokenType, text: string): void => void found.push({ type, text, line, at });
  const skip = (length: number): void => {
    line += lines(source.slice(at, at + length));
    at += length;
  };
  for (;;) {
    const open = source.indexOf("{{", at);
    const text = open === -1 ? source.slice(at) : source.slice(at, open);
    const isTrimmed = open !== -1 && /^\{\{-[ \t\r\n]/u.test(source.slice(open, open + 4));
    const shown = isTrimmed ? text.replace(BEFORE, "") : text;
    if (shown !== "") push("text", shown);
    skip(text.length);
    if (open === -1) break;
    const start = line;
    const opening = isTrimmed ? 3 : 2;
    const comment = /^[ \t\r\n]*\/\*/u.exec(source.slice(at + opening, at + opening + (isTrimmed ? 3 : 2)));
    if (comment !== null) {
      const from = at + opening + comment[0].length;
      const end = source.indexOf("*/", from);
      if (end === -1) return problem(start, "a comment has no end");
      const close = /^(?:[ \t\r\n]-)?\}\}/u.exec(source.slice(end + 2))?.[0];
      if (close === undefined) return problem(start, "a comment ends before its action does");
      skip(end + 2 + close.length - at);
      if (close !== "}}") skip(AFTER.exec(source.slice(at))?.[0].length ?? 0);
      continue;
    }
    push("left", "{{");
    skip(opening);
    let depth = 0;
    for (;;) {
      const rest = source.slice(at);
      const close = /^(?:[ \t\r\n]-)?\}\}/u.exec(rest)?.[0];
      if (close !== undefined) {
        if (depth > 0) return problem(line, "a parenthesis is not closed");
        push("right", "}}");
        skip(close.length);
        if (close !== "}}") skip(AFTER.exec(source.slice(at))?.[0].length ?? 0);
        break;
      }
      if (rest === "") return problem(start, "an action is not closed");
      const token = tokenAt(rest);
      if (E.isLeft(token)) return problem(line, token.left);
      const [type, length] = token.right;
      if (type === "(") depth += 1;
      if (type === ")") depth -= 1;
      if (depth < 0) return problem(line, 'unexpected ")"');
      push(type, rest.slice(0, length));
      skip(length);
    }
  }
  push("end of template", "");
  return E.right(found);
};
