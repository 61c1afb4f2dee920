// Durations as Go duration strings, such as 1h30m: codecs and formatting.
import * as E from "fp-ts/lib/Either.js";
import { nanosecondsOf } from "@janus/types";
import { as, type Codec, satisfying, string } from "./codec.ts";
import type { Rule } from "./rule.ts";

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
  holds: (text) => (nanosecondsOf(text) ?? 0n) >= 1_000_000_000n,
};

const expectedOrNone = "must be a duration in units of h, m, s or ms, such as 24h or 30m; 0s for none";

const notNegative: Rule<string> = {
  cel: "self.matches('^[+]?(0|(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$') && duration(self) >= duration('0s')",
  message: expectedOrNone,
  holds: (text) => !text.startsWith("-") && (nanosecondsOf(text) ?? -1n) >= 0n,
};

const durationThat = (rule: Rule<string>): Codec<number> =>
  as(
    satisfying(string({ maxLength: 64 }), rule),
    (text) => {
      const ns = nanosecondsOf(text);
      return ns === undefined ? E.left(rule.message) : E.right(Number(ns / 1_000_000n));
    },
    formatDuration,
  );

/** A Go duration string of at least 1 s in JSON, whole ms in TypeScript; fractions of a ms are dropped. */
export const duration: Codec<number> = durationThat(atLeastOneSecond);

/** The same of any length, also `0s` and `0`. */
export const durationOrNone: Codec<number> = durationThat(notNegative);
