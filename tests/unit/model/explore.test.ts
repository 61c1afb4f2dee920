import { describe, expect, it } from "vitest";
import { sampled, share } from "../../fixtures/sample.ts";
import { explore, showViolations } from "./explore.ts";
import { begin, NEVER, ONCE, type Type, TYPES } from "./scenario.ts";

const rules = { fence: true, lateTakeover: true, recoveries: 0 };
const pairs = sampled(
  TYPES.flatMap((first) => TYPES.map((second): readonly Type[] => [first, second])),
  share({ npmTest: 10, ci: 3 }),
);

const LETS_GO = [
  ["which keeps its targets in memory", {}],
  ["which reads its targets again after each pause", { letsGo: true }],
] as const;

/** Every run of the real core against the model of the API server. `explore-further.test.ts` goes further. */
describe("whatever goes wrong once, a Transaction ends, and never half-applied", () => {
  describe.each(LETS_GO)("%s", (_, memory) => {
    it.each(pairs)("%s, %s", (...types) => {
      const found = explore(begin(types, { ...ONCE, all: 1 }), { ...rules, ...memory });
      expect(showViolations(found)).toBe("");
      expect(found.ends["Committed"]).toBeGreaterThan(0);
      expect(found.ends["RolledBack"]).toBeGreaterThan(0);
    });
  });
});

describe("whatever goes wrong once, a Transaction that waits for its targets ends, and never half-applied", () => {
  const once = { ...ONCE, all: 1 };
  const gated = [
    ["Create", "Update"],
    ["Patch", "Create"],
    ["Delete", "Patch"],
    ["Replace", "Create"],
  ] as const satisfies readonly (readonly Type[])[];

  it.each(gated)("which gets them there: %s, %s", (...types) => {
    const gates = { waitFor: ["jsonpath={.data.ours}=new"], rollbackWaitFor: ["jsonpath={.data.ours}=old"] };
    const found = explore(begin(types, once, gates), rules);
    expect(showViolations(found)).toBe("");
    expect(found.ends["Committed"]).toBeGreaterThan(0);
    expect(found.ends["RolledBack"]).toBeGreaterThan(0);
  });

  it("which gets them there at the end", () => {
    const atEnd = { waitFor: ["jsonpath={.data.ours}=new"], waitAt: "End" } as const;
    const found = explore(begin(["Update", "Create"], once, atEnd), rules);
    expect(showViolations(found)).toBe("");
    expect(found.ends["Committed"]).toBeGreaterThan(0);
    expect(found.ends["RolledBack"]).toBeGreaterThan(0);
  });

  it.each(gated)("which never gets them there, nor back: %s, %s", (...types) => {
    const never = ["jsonpath={.data.never}"];
    const found = explore(begin(types, once, { waitFor: never, rollbackWaitFor: never }), rules);
    expect(showViolations(found)).toBe("");
    expect(found.ends["Committed"]).toBeUndefined();
    expect(found.ends["RolledBack"]).toBeGreaterThan(0);
  });
});

it.each(["Update", "Patch"] as const)(
  "when a reply is lost, others may clear what tells whose a field is: a target of a(n) %s is never said to be as before when it is not",
  (type) => {
    const found = explore(begin([type], { ...NEVER, all: 2, lost: 1, others: 1 }), rules);
    expect(showViolations(found)).toBe("");
    expect(found.ends["Failed"]).toBeGreaterThan(0);
  },
);
