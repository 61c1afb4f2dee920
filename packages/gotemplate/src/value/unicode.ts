// Classes and cases of code points, as Go's package unicode has them.
import { bytesOfRune, isAscii, runesOf } from "./bytes.ts";

const LETTER = /\p{L}/u;
const DIGIT = /\p{Nd}/u;
const NUMBER = /\p{N}/u;
const UPPER = /\p{Lu}/u;
const LOWER = /\p{Ll}/u;
const TITLE = /\p{Lt}/u;
const PUNCTUATION = /\p{P}/u;
const PRINTED = /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u;
const SPACES = new Set([9, 10, 11, 12, 13, 32, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000]);

const is =
  (pattern: RegExp) =>
  (rune: number): boolean =>
    pattern.test(String.fromCodePoint(rune));

export const isLetter = is(LETTER);
export const isDigit = is(DIGIT);
export const isNumber = is(NUMBER);
export const isUpper = is(UPPER);
export const isLower = is(LOWER);
export const isTitle = is(TITLE);
export const isPunctuation = is(PUNCTUATION);
export const isSpace = (rune: number): boolean => SPACES.has(rune) || (rune >= 0x2000 && rune <= 0x200a);
export const isPrint = (rune: number): boolean =>
  rune < 0x7f ? rune >= 0x20 : PRINTED.test(String.fromCodePoint(rune));

/** Go maps one code point to one; where JavaScript has several, there is no mapping. */
const single = (rune: number, mapped: string): number => {
  const first = mapped.codePointAt(0) ?? rune;
  return mapped.length === (first > 0xffff ? 2 : 1) ? first : rune;
};

export const upperRune = (rune: number): number => single(rune, String.fromCodePoint(rune).toUpperCase());
export const lowerRune = (rune: number): number =>
  rune === 0x130 ? 0x69 : single(rune, String.fromCodePoint(rune).toLowerCase());

/** Of the letters with two parts (as in Croatian) the first one only. */
export const titleRune = (rune: number): number =>
  rune >= 0x1c4 && rune <= 0x1cc
    ? Math.floor((rune - 0x1c4) / 3) * 3 + 0x1c5
    : rune >= 0x1f1 && rune <= 0x1f3
      ? 0x1f2
      : upperRune(rune);

const mapped = (bytes: string, map: (rune: number) => number): string =>
  runesOf(bytes)
    .map((rune) => bytesOfRune(map(rune)))
    .join("");

export const upper = (bytes: string): string => (isAscii(bytes) ? bytes.toUpperCase() : mapped(bytes, upperRune));
export const lower = (bytes: string): string => (isAscii(bytes) ? bytes.toLowerCase() : mapped(bytes, lowerRune));
