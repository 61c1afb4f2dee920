// The functions of sprig for encodings and checksums.
import { createHash } from "node:crypto";
import * as E from "fp-ts/lib/Either.js";
import { ofString, type Value } from "../value/value.ts";
import { type FunctionTable, type GoFunction, text } from "./go-function.ts";

interface Alphabet {
  readonly name: string;
  readonly characters: string;
  /** Bits of a character. */
  readonly bits: number;
  /** Characters of a group. */
  readonly group: number;
}

const BASE64: Alphabet = {
  name: "base64",
  characters: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  bits: 6,
  group: 4,
};
const BASE32: Alphabet = { name: "base32", characters: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", bits: 5, group: 8 };

const encode = ({ characters, bits, group }: Alphabet, bytes: string): string => {
  const out: string[] = [];
  let held = 0;
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    held = (held << 8) | bytes.charCodeAt(at);
    size += 8;
    while (size >= bits) {
      size -= bits;
      out.push(characters.charAt(held >> size));
      held &= (1 << size) - 1;
    }
  }
  if (size > 0) out.push(characters.charAt(held << (bits - size)));
  while (out.length % group !== 0) out.push("=");
  return out.join("");
};

/** How many characters of the last group make whole bytes. */
const PARTIAL: Readonly<Record<number, ReadonlySet<number>>> = { 4: new Set([2, 3]), 8: new Set([2, 4, 5, 7]) };

/** Bytes; or what Go says of where they are broken. Line breaks are skipped. */
const decode = ({ name, characters, bits, group }: Alphabet, text: string): E.Either<string, string> => {
  const error = (at: number): E.Either<string, string> => E.left(`illegal ${name} data at input byte ${at}`);
  // Base32 drops line breaks before it counts, base64 counts them.
  const input = group === 8 ? text.replaceAll(/[\r\n]/gu, "") : text;
  const out: string[] = [];
  let held = 0;
  let size = 0;
  let inGroup = 0;
  let at = 0;
  const isBreak = (): boolean => input.charAt(at) === "\n" || input.charAt(at) === "\r";
  const skipBreaks = (): void => {
    while (isBreak()) at++;
  };
  for (; at < input.length; at++) {
    if (isBreak()) continue;
    const char = input.charAt(at);
    const value = characters.indexOf(char);
    if (value >= 0) {
      held = (held << bits) | value;
      size += bits;
      if (size >= 8) {
        size -= 8;
        out.push(String.fromCharCode(held >> size));
        held &= (1 << size) - 1;
      }
      inGroup = (inGroup + 1) % group;
      continue;
    }
    if (char !== "=" || !PARTIAL[group]?.has(inGroup)) return error(at);
    for (let missing = group - inGroup; missing > 0; missing--) {
      skipBreaks();
      if (at >= input.length) return error(input.length);
      if (input.charAt(at) !== "=") return error(at);
      at++;
    }
    skipBreaks();
    return at < input.length ? error(at) : E.right(out.join(""));
  }
  return inGroup === 0 ? E.right(out.join("")) : error(input.length - (group === 4 ? inGroup : inGroup));
};

export const decodeBase64 = (text: string): E.Either<string, string> => decode(BASE64, text);

const mapped = (map: (text: string) => string): GoFunction => ({
  parameters: ["string"],
  call: ([value]: readonly Value[]) => ofString(map(text(value))),
});

const digest = (algorithm: string) => mapped((value) => createHash(algorithm).update(value, "latin1").digest("hex"));

const adler32 = (bytes: string): string => {
  let [a, b] = [1, 0];
  for (let at = 0; at < bytes.length; at++) {
    a = (a + bytes.charCodeAt(at)) % 65_521;
    b = (b + a) % 65_521;
  }
  return String(b * 65_536 + a);
};

export const ENCODINGS: FunctionTable = {
  b64enc: mapped((value) => encode(BASE64, value)),
  b64dec: mapped((value) => E.toUnion(decode(BASE64, value))),
  b32enc: mapped((value) => encode(BASE32, value)),
  b32dec: mapped((value) => E.toUnion(decode(BASE32, value))),
  sha1sum: digest("sha1"),
  sha256sum: digest("sha256"),
  adler32sum: mapped(adler32),
};
