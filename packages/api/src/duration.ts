// Parses Go duration strings, such as 1h30m, with the same result as CEL and the API server.
import * as E from "fp-ts/lib/Either.js";
import { as, type Codec, satisfying, string } from "./codec.ts";
import type { Rule } from "./rule.ts";

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
const parse = (text: string): bigint | undefined => {
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
  const ns = parse(text);
  return ns === undefined ? undefined : Number(ns) / 1_000_000;
};

const units = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** The shortest Go duration string of so many whole ms: `5m`, `1h30m`, `1s500ms`. */
export const formatDuration = (ms: number): string => {
  let left = ms;
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count > 0 ? [`${count}${unit}`] : [];
  });
  return parts.length > 0 ? parts.join("") : "0s";
};

const expected = "must be a duration of at least 1s in units of h, m, s or ms, such as 5m, 1h30m or 1.5s";

const atLeastOneSecond: Rule<string> = {
  cel: "self.matches('^[+]?(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$') && duration(self) >= duration('1s')",
  message: expected,
  holds: (text) => (parse(text) ?? 0n) >= 1_000_000_000n,
};

const expectedOrNone = "must be a duration in units of h, m, s or ms, such as 24h or 30m; 0s for none";

const notNegative: Rule<string> = {
  cel: "self.matches('^[+]?(0|(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$') && duration(self) >= duration('0s')",
  message: expectedOrNone,
  holds: (text) => !text.startsWith("-") && (parse(text) ?? -1n) >= 0n,
};

const durationThat = (rule: Rule<string>): Codec<number> =>
  as(
    satisfying(string({ maxLength: 64 }), rule),
    (text) => {
      const ns = parse(text);
      return ns === undefined ? E.left(rule.message) : E.right(Number(ns / 1_000_000n));
    },
    formatDuration,
  );

/** A Go duration string of at least 1 s in JSON, whole ms in TypeScript; fractions of a ms are dropped. */
export const duration: Codec<number> = durationThat(atLeastOneSecond);

/** The same of any length, also `0s` and `0`. */
export const durationOrNone: Codec<number> = durationThat(notNegative);
