import { describe, expect, it } from "vitest";
import { explore, showViolations } from "./explore.ts";
import { begin, NEVER, type Type, TYPES } from "./scenario.ts";

const rules = { fence: true, lateTakeover: true, recoveries: 0 };
const pairs = TYPES.flatMap((first) => TYPES.map((second): readonly Type[] => [first, second]));

/** Every run of the real core against the model of the API server in which so much goes wrong. `tests/model` goes further. */
const exploration = (types: readonly Type[], left: object) => explore(begin(types, { ...NEVER, ...left }), rules);

describe("whatever goes wrong once, a Transaction ends, and never half-applied", () => {
  it.each(pairs)("%s, %s: a crash, a lost reply, a late or a refused write", (...types) => {
    const found = exploration(types, { all: 1, crash: 1, lost: 1, late: 1, refused: 1 });
    expect(showViolations(found)).toBe("");
    expect(found.ends["Committed"]).toBeGreaterThan(0);
  });

  it.each(TYPES)("%s: others touch the target or the lock", (type) => {
    const found = exploration([type], { all: 1, others: 1, leases: 1 });
    expect(showViolations(found)).toBe("");
    expect(found.ends["Committed"]).toBeGreaterThan(0);
  });
});
