// Tests that a large map has the entries of a map, whatever was changed.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  entriesOf,
  type LargeMap,
  largeMap,
  valueAt,
  withValue,
} from "../../../packages/git-journal/src/core/large-map.ts";

const change = fc.tuple(fc.integer({ min: 0, max: 400 }), fc.option(fc.integer(), { nil: undefined }));

it("is as a map, and what was there before a change stays as it was", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 700 }), (changes) => {
      const expected = new Map<number, { readonly value: number }>();
      let map: LargeMap<number, { readonly value: number }> = largeMap();
      for (const [key, number] of changes) {
        const before = map;
        const was = valueAt(before, key);
        const value = number === undefined ? undefined : { value: number };
        if (value === undefined) expected.delete(key);
        else expected.set(key, value);
        map = withValue(map, key, value);
        expect(valueAt(map, key)).toBe(value);
        expect(valueAt(before, key)).toBe(was);
        expect(map.size).toBe(expected.size);
      }
      expect(new Map([...entriesOf(map)].toSorted(([a], [b]) => a - b))).toEqual(
        new Map([...expected].toSorted(([a], [b]) => a - b)),
      );
    }),
    { numRuns: 50 },
  );
});
