import { duration, formatDuration } from "@janus/api";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";

const accepted: readonly (readonly [string, number])[] = [
  ["1s", 1_000],
  ["5m", 300_000],
  ["1h30m", 5_400_000],
  ["1.5s", 1_500],
  ["1.s", 1_000],
  ["1.5h.5m", 5_430_000],
  ["+2m", 120_000],
  ["1h1h", 7_200_000],
  ["1000ms", 1_000],
  ["1000000us", 1_000],
  ["1000000\u00b5s", 1_000],
  ["1000000\u03bcs", 1_000],
  ["1000000000ns", 1_000],
  ["1s999999ns", 1_000],
  ["2562047h47m16.854775807s", 9_223_372_036_854],
  ["0.100000000000000000000h", 360_000],
  [".656100000h", 2_361_960],
  ["0.99999999999999999999s", 1_000], // Go rounds it up
];

const refused = [
  "",
  "0",
  "5",
  "s",
  ".s",
  "+",
  "5x",
  "5M",
  " 5m",
  "5m ",
  "5m\n",
  "5 m",
  "-5m",
  "+-5m",
  "999ms",
  "999.9999999ms",
  "1e3s",
  "1,5s",
  "1d",
  "2562047h47m16.854775808s",
  "9223372036854775808ns",
  "99999999999999999999h",
  `${"0".repeat(64)}5m`,
];

describe("a duration", () => {
  it.each(accepted)("reads %s as Go does", (text, ms) => {
    expect(duration.decode(text)).toEqual(E.right(ms));
  });

  it.each(refused)("refuses %j", (text) => {
    expect(E.isLeft(duration.decode(text))).toBe(true);
  });

  it("keeps every whole millisecond from 1 s to a year on the way to the wire and back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 365 * 86_400_000 }), (ms) => {
        expect(duration.decode(duration.encode(ms))).toEqual(E.right(ms));
      }),
    );
  });

  it.each([
    [0, "0s"],
    [300_000, "5m"],
    [5_400_000, "1h30m"],
    [1_500, "1s500ms"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
