// Reads numbers as Go's strconv does.

const PREFIXES: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 };

/** Underscores only between digits, or between a prefix and a digit. */
const hasGoodUnderscores = (text: string): boolean =>
  !text.includes("_") ||
  /^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|[0-9](?:_?[0-9])*)$/u.test(text);

const digitsOf = (text: string, base: number): bigint | undefined => {
  if (text === "") return undefined;
  let value = 0n;
  for (const char of text) {
    const digit = Number.parseInt(char, 36);
    if (Number.isNaN(digit) || digit >= base) return undefined;
    value = value * BigInt(base) + BigInt(digit);
  }
  return value;
};

/** Base 0 takes it from the prefix, and allows underscores. Not bounded. */
export const parseInteger = (text: string, base: number): bigint | undefined => {
  const isNegative = text.startsWith("-");
  const unsigned = isNegative || text.startsWith("+") ? text.slice(1) : text;
  // No number that fits has more: leading zeros aside, which nobody writes by the hundred.
  if (unsigned.length > 200) return undefined;
  const sign = (value: bigint | undefined): bigint | undefined => (value !== undefined && isNegative ? -value : value);
  if (base !== 0) return sign(digitsOf(unsigned, base));
  if (!hasGoodUnderscores(unsigned)) return undefined;
  const digits = unsigned.replaceAll("_", "");
  const prefix = digits.startsWith("0") ? PREFIXES[digits.charAt(1).toLowerCase()] : undefined;
  if (prefix !== undefined) return sign(digitsOf(digits.slice(2), prefix));
  return sign(digitsOf(digits, digits.length > 1 && digits.startsWith("0") ? 8 : 10));
};

export const parseInt64 = (text: string, base: number): bigint | undefined => {
  const value = parseInteger(text, base);
  return value !== undefined && BigInt.asIntN(64, value) === value ? value : undefined;
};

const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/u;
const HEX = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)$/u;
const SPECIAL: Readonly<Record<string, number>> = { inf: Infinity, infinity: Infinity, nan: Number.NaN };

/** Nothing for what is none, infinite where it is too large for a float64. */
export const parseFloat64 = (text: string): number | undefined => {
  const special = SPECIAL[text.replace(/^[+-]/u, "").toLowerCase()];
  if (special !== undefined && !(Number.isNaN(special) && /^[+-]/u.test(text)))
    return text.startsWith("-") ? -special : special;
  const isSpread = text.includes("_");
  if (isSpread) return undefined;
  if (DECIMAL.test(text)) return Number(text);
  const hex = HEX.exec(text);
  if (hex === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = hex;
  if (whole + fraction === "") return undefined;
  const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === "-" ? -value : value;
};
