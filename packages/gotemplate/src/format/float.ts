// Writes float64 values as Go's strconv does.

const exponentOf = (exponent: number): string =>
  `${exponent < 0 ? "-" : "+"}${Math.abs(exponent).toString().padStart(2, "0")}`;

/** The exact decimal expansion is what JavaScript has for up to 100 digits; Go has all of them. */
const MOST_DIGITS = 100;

const scientific = (value: number, precision: number): string => {
  const digits = precision < 0 ? undefined : Math.min(precision, MOST_DIGITS);
  const [mantissa = "", exponent = "0"] = value.toExponential(digits).split("e");
  return `${mantissa}${precision > MOST_DIGITS ? "0".repeat(precision - MOST_DIGITS) : ""}e${exponentOf(Number(exponent))}`;
};

/** All digits of a number, without an exponent. */
const plain = (text: string): string => {
  const [mantissa = "", exponent] = text.split("e");
  if (exponent === undefined) return text;
  const [whole = "", fraction = ""] = mantissa.split(".");
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  return point >= digits.length ? digits.padEnd(point, "0") : `${digits.slice(0, point)}.${digits.slice(point)}`;
};

const MANTISSA = 2n ** 52n;

/** The integer that is meant by a large float64, and how often it is halved. */
const parts = (value: number): { readonly mantissa: bigint; readonly exponent: number } => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & (MANTISSA - 1n);
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | MANTISSA, exponent: biased - 1075 };
};

/** Rounds half to even, as Go does on the exact value. */
const fixed = (value: number, precision: number): string => {
  const { mantissa, exponent } = parts(value);
  const scaled = mantissa * 10n ** BigInt(precision);
  let digits: bigint;
  if (exponent >= 0) digits = scaled << BigInt(exponent);
  else {
    const shift = BigInt(-exponent);
    digits = scaled >> shift;
    const rest = scaled - (digits << shift);
    const half = 1n << (shift - 1n);
    if (rest > half || (rest === half && (digits & 1n) === 1n)) digits += 1n;
  }
  const text = digits.toString().padStart(precision + 1, "0");
  return precision === 0 ? text : `${text.slice(0, -precision)}.${text.slice(-precision)}`;
};

const general = (value: number, precision: number): string => {
  if (value === 0) return "0";
  const isShortest = precision < 0;
  const text = scientific(value, isShortest ? -1 : (precision === 0 ? 1 : precision) - 1);
  const [mantissa = "", exponentText = "0"] = text.split("e");
  const exponent = Number(exponentText);
  const digits = mantissa.replace(".", "").replace(/0+$/u, "") || "0";
  let limit = isShortest ? 6 : precision === 0 ? 1 : precision;
  if (!isShortest && limit > digits.length && digits.length >= exponent + 1) limit = digits.length;
  if (exponent < -4 || exponent >= limit)
    return `${digits.charAt(0)}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e${exponentOf(exponent)}`;
  return plain(`${digits.charAt(0)}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e${exponent}`);
};

const binary = (value: number): string => {
  const { mantissa, exponent } = parts(value);
  return `${mantissa}p${exponent < 0 ? "-" : "+"}${Math.abs(exponent)}`;
};

/** Hexadecimal, normalized to one digit before the point. */
const hexadecimal = (value: number, precision: number): string => {
  if (value === 0) return `0x0${precision > 0 ? `.${"0".repeat(precision)}` : ""}p+00`;
  let { mantissa, exponent } = parts(value);
  while (mantissa < MANTISSA) {
    mantissa <<= 1n;
    exponent--;
  }
  exponent += 52;
  if (precision >= 0 && precision < 13) {
    const shift = BigInt(52 - precision * 4);
    const rest = mantissa & ((1n << shift) - 1n);
    const half = 1n << (shift - 1n);
    mantissa >>= shift;
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) mantissa += 1n;
    mantissa <<= shift;
    if (mantissa >= MANTISSA * 2n) {
      mantissa >>= 1n;
      exponent++;
    }
  }
  let fraction = (mantissa - MANTISSA).toString(16).padStart(13, "0");
  fraction = precision < 0 ? fraction.replace(/0+$/u, "") : fraction.padEnd(precision, "0").slice(0, precision);
  return `0x1${fraction === "" ? "" : `.${fraction}`}p${exponentOf(exponent)}`;
};

/**
 * As strconv.FormatFloat does.
 *
 * @param precision -1 for as few digits as make the same number again
 */
export const formatFloat = (value: number, verb: string, precision: number): string => {
  if (Number.isNaN(value)) return "NaN";
  const isNegative = value < 0 || Object.is(value, -0);
  const sign = isNegative ? "-" : "";
  if (!Number.isFinite(value)) return isNegative ? "-Inf" : "+Inf";
  const size = Math.abs(value);
  switch (verb) {
    case "e":
      return sign + scientific(size, precision);
    case "E":
      return sign + scientific(size, precision).toUpperCase();
    case "f":
      return sign + (precision < 0 ? plain(scientific(size, -1)) : fixed(size, precision));
    case "G":
      return sign + general(size, precision).toUpperCase();
    case "b":
      return sign + binary(size);
    case "x":
      return sign + hexadecimal(size, precision);
    case "X":
      return sign + hexadecimal(size, precision).toUpperCase();
    default:
      return sign + general(size, precision);
  }
};
