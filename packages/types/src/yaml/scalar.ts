// Resolves plain scalars to null, booleans, numbers or strings as go-yaml does.
import { parseJson } from "../json.ts";

/** Values of plain texts by their name. */
const NAMED: ReadonlyMap<string, null | boolean> = new Map([
  ...["", "~", "null", "Null", "NULL"].map((text) => [text, null] as const),
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((text) => [text, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((text) => [text, false] as const),
]);

const NOT_OF_JSON = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/u;
/** Begins with a dot: read without removing `_`, which Go allows between digits. */
const FRACTION = /^\.\d+(_\d+)*([eE][-+]?\d+(_\d+)*)?$/u;
const FLOAT = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/u;

/** Integers as `strconv.ParseInt` of Go has them with base 0, and go-yaml's own way to write the sign of a binary number. */
const INTEGERS: readonly (readonly [RegExp, prefix: string])[] = [
  [/^([-+]?)(0|[1-9]\d*)$/u, ""],
  [/^([-+]?)0[oO]?([0-7]+)$/u, "0o"],
  [/^([-+]?)0[xX]([\da-fA-F]+)$/u, "0x"],
  [/^([-+]?)0[bB]([01]+)$/u, "0b"],
  [/^0b([-+])([01]+)$/u, "0b"],
];

const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 64n - 1n;
/** Above, the API server has a float. */
const LARGEST_SIGNED = 2n ** 63n - 1n;

const integerOf = (text: string): bigint | undefined => {
  for (const [form, prefix] of INTEGERS) {
    const [, sign, digits] = form.exec(text) ?? [];
    if (digits === undefined) continue;
    const size = BigInt(prefix + digits);
    const value = sign === "-" ? -size : size;
    // Go has no negative zero here, nor a sign before what has more than 63 bits.
    return value < SMALLEST || value > (sign === "" ? LARGEST : LARGEST_SIGNED) ? undefined : value;
  }
  return undefined;
};

const floatOf = (text: string): number | undefined => {
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
};

/** A scalar as the reader of kubectl has it; undefined if there is no JSON for it. */
export type Scalar = null | boolean | string | { readonly integer: bigint } | { readonly float: number } | undefined;

/**
 * The value of a plain text, by the rules of kubectl: YAML 1.1 as go-yaml v2 reads it, which has a grammar of its own for numbers.
 * https://github.com/yaml/go-yaml/blob/v2.4.3/resolve.go
 */
export const plainScalar = (text: string): Scalar => {
  const named = NAMED.get(text);
  if (named !== undefined) return named;
  if (NOT_OF_JSON.test(text)) return undefined;
  if (text.startsWith(".")) {
    const float = FRACTION.test(text) ? floatOf(text.replaceAll("_", "")) : undefined;
    return float === undefined ? text : { float };
  }
  if (!/^[-+\d]/u.test(text)) return text;
  const digits = text.replaceAll("_", "");
  const integer = integerOf(digits);
  if (integer !== undefined) return { integer };
  const float = FLOAT.test(digits) ? floatOf(digits) : undefined;
  return float === undefined ? text : { float };
};

/** The value as JSON: integers that JavaScript would round are kept, as far as the API server keeps them. */
export const jsonOf = (scalar: Exclude<Scalar, undefined>): unknown => {
  if (typeof scalar !== "object" || scalar === null) return scalar;
  if ("integer" in scalar)
    return scalar.integer > LARGEST_SIGNED ? Number(scalar.integer) : parseJson(`${scalar.integer}`);
  // There is no negative zero in JSON of Go's integers.
  return scalar.float + 0;
};

/** The shortest digits of a 32-bit float, for which kubectl takes a key. */
const digitsOfFloat = (value: number): string => {
  const float = Math.fround(value);
  for (let count = 1; count < 9; count += 1) {
    const digits = float.toExponential(count - 1);
    if (Math.fround(Number(digits)) === float) return digits;
  }
  return float.toExponential(8);
};

/** Formats it as `strconv.FormatFloat(value, 'g', -1, 32)` of Go does. */
const textOfFloat = (value: number): string => {
  if (Object.is(value, -0)) return "-0";
  const [digits = "", exponent = "0"] = digitsOfFloat(value).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return `${Number(`${digits}e${power}`)}`;
  return `${digits}e${power < 0 ? "-" : "+"}${`${Math.abs(power)}`.padStart(2, "0")}`;
};

/** The value as the key of an object; undefined if kubectl refuses it as one. */
export const keyOf = (scalar: Scalar): string | undefined => {
  if (scalar === null || scalar === undefined) return undefined;
  if (typeof scalar !== "object") return `${scalar}`;
  if ("integer" in scalar) return scalar.integer > LARGEST_SIGNED ? undefined : `${scalar.integer}`;
  // It takes them for infinite.
  return Number.isFinite(Math.fround(scalar.float)) ? textOfFloat(scalar.float) : undefined;
};
