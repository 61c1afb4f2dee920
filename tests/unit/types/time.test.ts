import * as fc from "fast-check";
import { expect, it } from "vitest";
import { toMicroTime } from "@janus/types";
import { fromTimestamp, toTimestamp } from "../../../packages/types/src/time.ts";

const instants = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });

it("a timestamp is in whole seconds, and comes back", () => {
  expect(toTimestamp(1_500)).toBe("1970-01-01T00:00:01Z");
  fc.assert(
    fc.property(instants, (at) => {
      expect(fromTimestamp(toTimestamp(at))).toBe(Math.floor(at / 1000) * 1000);
    }),
  );
});

it("a time of a Lease is in microseconds, and comes back", () => {
  expect(toMicroTime(1_500)).toBe("1970-01-01T00:00:01.500000Z");
  fc.assert(
    fc.property(instants, (at) => {
      expect(toMicroTime(at)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(fromTimestamp(toMicroTime(at))).toBe(at);
    }),
  );
});

it.each([undefined, "", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z"])("%j is no timestamp", (text) => {
  expect(fromTimestamp(text)).toBeUndefined();
});
