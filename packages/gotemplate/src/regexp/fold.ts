// Code points that are the same but for their case.
import { lowerRune, upperRune } from "../value/unicode.ts";

/** What no mapping to one case leads to: the signs of kelvin and ångström, the long s. */
const MORE: Readonly<Record<number, number>> = { 0x6b: 0x212a, 0x73: 0x17f, 0xe5: 0x212b };

/** With the code point itself. */
export const foldsOf = (rune: number): readonly number[] => {
  const small = lowerRune(upperRune(rune));
  const more = MORE[small];
  return [rune, small, lowerRune(rune), upperRune(rune), ...(more === undefined ? [] : [more])];
};
