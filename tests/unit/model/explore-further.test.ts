import { describe, expect, it } from "vitest";
import { isExhaustive, sampled, share } from "../../fixtures/sample.ts";
import { explore, type Exploration, showViolations } from "./explore.ts";
import { begin, NEVER, type Particulars, ONCE, type Type, TYPES } from "./scenario.ts";
import type { Budget } from "./state.ts";
import type { Rules } from "./moment.ts";

/**
 * The real core against the model of the API server, further than `explore.test.ts` goes. `JANUS_MODEL=thorough` takes
 * many minutes: then every pair of changes goes through every two misfortunes.
 */
const isThorough = isExhaustive || process.env["JANUS_MODEL"] === "thorough";

const fenced: Rules = { fence: true, lateTakeover: true, recoveries: 0 };
const TWICE: Budget = { ...ONCE, all: 2, crash: 2, lost: 2, others: 2 };

const pairs = TYPES.flatMap((first) => TYPES.map((second): readonly Type[] => [first, second]));
const triples: readonly (readonly Type[])[] = [
  ["Create", "Update", "Delete"],
  ["Patch", "Delete", "Create"],
  ["Delete", "Create", "Patch"],
  ["Update", "Patch", "Update"],
];

/** One type in so many; `explore.test.ts` goes through all of them with one misfortune. */
const SHARE = share({ npmTest: 4, ci: 4 });
const some = sampled(TYPES, SHARE);
const MISFORTUNES = SHARE === 1 ? 2 : 1;

const exploration = (
  types: readonly Type[],
  left: Budget,
  rules = fenced,
  particulars: Particulars = {},
): Exploration => {
  const found = explore(begin(types, left, particulars), rules);
  console.log(`${types.join(", ")}: ${found.states} states, ends ${JSON.stringify(found.ends)}`);
  return found;
};

/** Those that may be sent before it is recorded that the one before is in. */
const FOLLOWING = ["Create", "Update", "Patch"] as const satisfies readonly Type[];
const windows = [
  ...FOLLOWING.flatMap((first) => FOLLOWING.map((second): readonly Type[] => [first, second, "Patch"])),
  ...FOLLOWING.map((second): readonly Type[] => ["Delete", second, "Create"]),
  ...TYPES.flatMap((first) => FOLLOWING.map((second): readonly Type[] => [first, second])),
];
/** A process ends in the middle of a window, others change or remove a target, and the next one is to stop. */
const INTERRUPTED: Budget = {
  ...NEVER,
  all: isThorough ? 3 : 2,
  crash: 1,
  others: 1,
  wishes: 1,
  late: isThorough ? 1 : 0,
};

describe("whoever interferes with a window of changes that a process leaves behind", () => {
  it.each(sampled(windows, share({ npmTest: 28, ci: 28 })).map((types) => ({ types })))(
    "nothing is half-applied: $types",
    ({ types }) => {
      expect(showViolations(exploration(types, INTERRUPTED))).toBe("");
    },
  );
});

describe("whatever goes wrong, a Transaction ends, and never half-applied", () => {
  it.each(isThorough ? pairs : [["Create", "Delete"] as const])("any two misfortunes: %s, %s", (...types) => {
    expect(showViolations(exploration(types, TWICE))).toBe("");
  });

  it("the abort of a former process arrives late, when another one goes on with what was refused", () => {
    const left: Budget = { ...NEVER, all: 3, refused: 1, late: 1, crash: 1 };
    const types: readonly Type[] = isThorough ? ["Patch", "Patch"] : ["Patch"];
    expect(showViolations(exploration(types, left, { ...fenced, lateTakeover: isThorough }))).toBe("");
  });

  it.each(sampled(triples, SHARE))("any misfortune: %s, %s, %s", (...types) => {
    expect(showViolations(exploration(types, { ...TWICE, all: isThorough ? 2 : 1 }))).toBe("");
  });

  it.each(some)("%s: any two misfortunes without the fence, and another attempt to roll back what was kept", (type) => {
    const rules = { fence: false, lateTakeover: true, recoveries: 1 };
    expect(showViolations(exploration([type], TWICE, rules))).toBe("");
  });

  it.each(some)("%s, with deletionPolicy Rollback, of an object with finalizers: any misfortune", (type) => {
    const particulars: Particulars = { deletionPolicy: "Rollback", finalizers: ["example.com/hold"] };
    expect(showViolations(exploration([type], { ...TWICE, all: isThorough ? 2 : 1 }, fenced, particulars))).toBe("");
  });

  it.each(isThorough ? TYPES : sampled(["Create", "Delete"] as const, share({ npmTest: 2, ci: 2 })))(
    "%s: two crashes and a lost or a late write",
    (type) => {
      const left = { ...ONCE, all: 3, crash: 2, refused: 0, others: 0, leases: 0, wishes: 0 };
      expect(showViolations(exploration([type], left))).toBe("");
    },
  );

  it.each(isThorough ? TYPES : (["Update"] as const))(
    `%s, of which a rollback may be requested within the window after Committed: any ${MISFORTUNES} misfortune(s)`,
    (type) => {
      const found = exploration([type], { ...TWICE, all: MISFORTUNES }, fenced, { rollbackWindow: 30_000 });
      expect(showViolations(found)).toBe("");
      expect(found.ends["RolledBack"]).toBeGreaterThan(0);
    },
  );
});
