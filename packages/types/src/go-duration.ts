// Parses Go duration strings, such as 1h30m, with the same result as CEL and the API server.

const nanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  "\u00b5s": 1_000n, // micro sign
  "\u03bcs": 1_000n, // Greek mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const limit = 1n << 63n; // what an int64 cannot hold

/**
 * The result of Go's `time.ParseDuration`, in ns; undefined if that rejects the text. CEL's `duration()` is the same
 * function. Overflow and rounding are Go's too, so that both agree at every limit that we accept.
 * https://pkg.go.dev/time#ParseDuration
 */
export const nanosecondsOf = (text: string): bigint | undefined => {
  const [, sign, terms = ""] = /^([-+]?)(.*)$/su.exec(text) ?? [];
  if (terms === "0") return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/u.test(terms)) return undefined;
  let total = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of terms.matchAll(/(\d*)\.?(\d*)([^\d.]+)/gu)) {
    const size = nanoseconds[unit] ?? 0n;
    total += BigInt(whole === "" ? 0 : whole) * size + fractionOf(fraction, size);
  }
  return total >= limit ? undefined : sign === "-" ? -total : total;
};

/** Go sums up the digits of a fraction while they fit an int64, and ignores the others. */
const fractionOf = (digits: string, unit: bigint): bigint => {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (value > (limit - 1n) / 10n || next > limit) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
};

/** The ms of a Go duration string such as `1h30m` or `1.5s`; undefined if it is not one. */
export const parseDuration = (text: string): number | undefined => {
  const ns = nanosecondsOf(text);
  return ns === undefined ? undefined : Number(ns) / 1_000_000;
};
