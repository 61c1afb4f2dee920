// Reads Go's string and character literals.
import { Failure } from "../template-error.ts";
import { bytesOfRune, runeAt } from "../value/bytes.ts";

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
};
const HEX_LENGTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

interface Unquoted {
  readonly bytes: string;
  /** The code point that it is; of \x and octal escapes the number. */
  readonly rune: number;
  readonly size: number;
}

const invalid = (): never => {
  throw new Failure("invalid syntax in a quoted string");
};

const escape = (text: string, at: number, quote: string): Unquoted => {
  const kind = text.charAt(at + 1);
  const simple = SIMPLE[kind] ?? (kind === quote && kind !== "" ? kind : undefined);
  if (simple !== undefined) return { bytes: simple, rune: simple.charCodeAt(0), size: 2 };
  const hexLength = HEX_LENGTH[kind];
  if (hexLength !== undefined) {
    const digits = text.slice(at + 2, at + 2 + hexLength);
    if (digits.length < hexLength || !/^[0-9a-fA-F]+$/u.test(digits)) return invalid();
    const rune = Number.parseInt(digits, 16);
    if (kind === "x") return { bytes: String.fromCharCode(rune), rune, size: 4 };
    if (rune > 0x10_ffff || (rune >= 0xd800 && rune <= 0xdfff)) return invalid();
    return { bytes: bytesOfRune(rune), rune, size: 2 + hexLength };
  }
  const octal = text.slice(at + 1, at + 4);
  if (!/^[0-7]{3}$/u.test(octal) || Number.parseInt(octal, 8) > 255) return invalid();
  const rune = Number.parseInt(octal, 8);
  return { bytes: String.fromCharCode(rune), rune, size: 4 };
};

const one = (text: string, at: number, quote: string): Unquoted => {
  const char = text.charAt(at);
  if (char === "\\") return escape(text, at, quote);
  if (char === quote || char === "") return invalid();
  const { rune, size } = runeAt(text, at);
  return { bytes: bytesOfRune(rune), rune, size };
};

/** The bytes of a literal in double quotes or backquotes. */
export const unquote = (literal: string): string => {
  const inner = literal.slice(1, -1);
  if (literal.startsWith("`")) return inner.replaceAll("\r", "");
  if (!inner.includes("\\")) return inner;
  let bytes = "";
  for (let at = 0; at < inner.length; ) {
    const read = one(inner, at, '"');
    bytes += inner.charCodeAt(at) < 0x80 ? read.bytes : inner.slice(at, at + read.size);
    at += read.size;
  }
  return bytes;
};

/** The code point of a literal in single quotes. */
export const unquoteCharacter = (literal: string): number => {
  const read = one(literal, 1, "'");
  if (literal.slice(1 + read.size) !== "'") throw new Failure(`malformed character constant: ${literal}`);
  return read.rune;
};
