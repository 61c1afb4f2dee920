// The functions of sprig that make random things, of the bytes that the caller hands in.
import { bytesOfRunes, runesOf } from "../value/bytes.ts";
import { ofString } from "../value/value.ts";
import type { Context } from "../execute/context.ts";
import { count, type FunctionTable, type GoFunction, text } from "./go-function.ts";

/** A number below this one; all are equally likely. */
const below = (end: number, { random }: Context): number => {
  const limit = 2 ** 32 - (2 ** 32 % end);
  for (;;) {
    const [a = 0, b = 0, c = 0, d = 0] = random(4);
    const value = ((a * 256 + b) * 256 + c) * 256 + d;
    if (value < limit) return value % end;
  }
};

const range = (from: number, to: number): string =>
  String.fromCharCode(...Array.from({ length: to - from + 1 }, (_, n) => from + n));
const UPPER = range(65, 90);
const LOWER = range(97, 122);
const DIGITS = range(48, 57);

const ofCharacters = (characters: string): GoFunction => ({
  parameters: ["int"],
  call: ([length], context) => {
    const size = Math.max(count(length), 0);
    context.claim(size);
    context.spend(size / 8);
    return ofString(Array.from({ length: size }, () => characters.charAt(below(characters.length, context))).join(""));
  },
});

const uuid = ({ random }: Context): string => {
  const bytes = Buffer.from(random(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, "$1-$2-$3-$4-$5");
};

export const RANDOM: FunctionTable = {
  randAlphaNum: ofCharacters(UPPER + LOWER + DIGITS),
  randAlpha: ofCharacters(UPPER + LOWER),
  randNumeric: ofCharacters(DIGITS),
  randAscii: ofCharacters(range(32, 126)),
  uuidv4: { parameters: [], call: (_, context) => ofString(uuid(context)) },
  shuffle: {
    parameters: ["string"],
    call: ([value], context) => {
      const runes = runesOf(text(value));
      context.spend(runes.length / 8);
      for (let n = runes.length - 1; n > 0; n--) {
        const other = below(n + 1, context);
        [runes[n], runes[other]] = [runes[other] as number, runes[n] as number];
      }
      return ofString(bytesOfRunes(runes));
    },
  },
};
