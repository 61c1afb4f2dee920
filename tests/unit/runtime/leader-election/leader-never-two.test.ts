import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { play } from "./leader-world.ts";

const dice = fc.array(
  fc.integer({ min: 0, max: 999 }).map((one) => one / 1000),
  {
    minLength: 20,
    maxLength: 600,
    size: "max",
  },
);

describe("whatever is lost, late or paused, and whatever the clocks show", () => {
  it("two never lead at the same time, no term comes twice, and in the end somebody leads", () => {
    fc.assert(
      fc.property(dice, fc.integer({ min: 2, max: 4 }), (dice, count) => {
        const { clashes, terms, leaders } = play(dice, count);
        expect(clashes).toEqual([]);
        expect(terms).toHaveLength(new Set(terms).size);
        expect(leaders).toHaveLength(1);
      }),
      { numRuns: 500 },
    );
  });
});
