// Reads Go's number literals, each as all of the types that can hold it.
import { Failure } from "../template-error.ts";
import { textOf } from "../value/bytes.ts";
import { parseFloat64, parseInteger } from "../format/parse-number.ts";
import type { NumberNode } from "./node.ts";
import { unquoteCharacter } from "./unquote.ts";

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

const truncated = (float: number): bigint | undefined =>
  Number.isInteger(float) && BigInt(float) >= MIN_INT && BigInt(float) <= MAX_INT ? BigInt(float) : undefined;

export const readNumber = (text: string, at: number): NumberNode => {
  if (text.startsWith("'")) {
    const rune = unquoteCharacter(text);
    return { node: "number", at, text, int: BigInt(rune), float: rune, isFloat: false };
  }
  if (text.endsWith("i")) throw new Failure(`complex numbers are not available: ${textOf(text)}`);
  const integer = parseInteger(text, 0);
  if (integer !== undefined) {
    const isInt = integer >= MIN_INT && integer <= MAX_INT;
    if (isInt || (integer >= 0n && integer < 2n ** 64n && !text.startsWith("+")))
      return { node: "number", at, text, int: isInt ? integer : undefined, float: Number(integer), isFloat: false };
  }
  const float = parseFloat64(text);
  if (float === undefined || !Number.isFinite(float)) throw new Failure(`illegal number syntax: "${textOf(text)}"`);
  if (!/[.eEpP]/u.test(text)) throw new Failure(`integer overflow: "${textOf(text)}"`);
  return { node: "number", at, text, int: truncated(float), float, isFloat: !/^0[xX][^pP]*$/u.test(text) };
};
