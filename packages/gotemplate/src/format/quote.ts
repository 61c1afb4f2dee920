// Quotes as Go's strconv does.
import { bytesOfRune, INVALID_RUNE, runeAt } from "../value/bytes.ts";
import { isPrint } from "../value/unicode.ts";

const SHORT: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  12: "\\f",
  10: "\\n",
  13: "\\r",
  9: "\\t",
  11: "\\v",
};

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

const escaped = (rune: number, quote: string, isAsciiOnly: boolean): string => {
  const char = rune < 0x80 ? String.fromCharCode(rune) : "";
  if (char === quote || char === "\\") return `\\${char}`;
  if (isPrint(rune) && (rune < 0x80 || !isAsciiOnly)) return bytesOfRune(rune);
  return (
    SHORT[rune] ??
    (rune < 0x20 || rune === 0x7f
      ? `\\x${hex(rune, 2)}`
      : rune < 0x1_0000
        ? `\\u${hex(rune, 4)}`
        : `\\U${hex(rune, 8)}`)
  );
};

/** In double quotes. */
export const quote = (bytes: string, isAsciiOnly = false): string => {
  let quoted = '"';
  for (let at = 0; at < bytes.length; ) {
    const { rune, size } = runeAt(bytes, at);
    quoted +=
      rune === INVALID_RUNE && size === 1 ? `\\x${hex(bytes.charCodeAt(at), 2)}` : escaped(rune, '"', isAsciiOnly);
    at += size;
  }
  return `${quoted}"`;
};

/** In single quotes. */
export const quoteRune = (rune: number, isAsciiOnly = false): string => {
  const valid = rune > 0x10_ffff || rune < 0 || (rune >= 0xd800 && rune <= 0xdfff) ? INVALID_RUNE : rune;
  return `'${escaped(valid, "'", isAsciiOnly)}'`;
};

/** Whether it can be a raw string. */
export const canBackquote = (bytes: string): boolean => {
  for (let at = 0; at < bytes.length; ) {
    const { rune, size } = runeAt(bytes, at);
    if (
      rune === 0xfeff ||
      (rune === INVALID_RUNE && size === 1) ||
      (rune < 0x20 && rune !== 9) ||
      rune === 0x60 ||
      rune === 0x7f
    )
      return false;
    at += size;
  }
  return true;
};
