import { describe, expect, it } from "vitest";
import { sampled, share } from "../../fixtures/sample.ts";
import { explore, showViolations } from "./explore.ts";
import { begin, NEVER, type Type, TYPES } from "./scenario.ts";

const rules = { fence: true, lateTakeover: true, recoveries: 0 };
const pairs = sampled(
  TYPES.flatMap((first) => TYPES.map((second): readonly Type[] => [first, second])),
  share({ npmTest: 10, ci: 3 }),
);

/** `tests/answers` does the same on the real API server, with all that is on the way to it. */
describe("whichever request is refused by something that knows nothing of it, the verdict is true, and nothing is left", () => {
  it.each(pairs)("%s, %s", (...types) => {
    const found = explore(begin(types, { ...NEVER, all: 2, wrong: 1, refused: 1 }), rules);
    expect(showViolations(found)).toBe("");
    expect(found.ends["Committed"]).toBeGreaterThan(0);
    expect(found.ends["RolledBack"]).toBeGreaterThan(0);
  });
});
