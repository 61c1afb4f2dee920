// The codec of messages, which truncates them to a number of bytes when they are encoded.
import * as E from "fp-ts/lib/Either.js";
import { as, type Codec, string } from "./codec.ts";

/** A message; a longer one is truncated when it is encoded, so that no status is ever too large or rejected for it. */
export const text = (bytes: number): Codec<string> =>
  as(string({ maxLength: bytes }), E.right, (value) => cut(value, bytes));

/** The beginning of the text, at most so many bytes of UTF-8, with an ellipsis if it is truncated. */
export const cut = (text: string, bytes: number): string => {
  if (size(text) <= bytes) return text;
  let kept = "";
  let left = bytes - size("…");
  for (const character of text) {
    left -= size(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept}…`;
};

const size = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return bytes;
};
