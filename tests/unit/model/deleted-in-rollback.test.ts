import { describe, expect, it } from "vitest";
import { explore, showViolations } from "./explore.ts";
import type { Rules } from "./moment.ts";
import { reach } from "./reach.ts";
import { begin, NEVER, type Type } from "./scenario.ts";
import type { Budget, State } from "./state.ts";

const rules: Rules = { fence: true, lateTakeover: false, recoveries: 0 };

describe.each<readonly [types: readonly Type[], last: string]>([
  [["Patch", "Patch", "Patch"], "apply"],
  [["Create", "Update", "Patch"], "apply"],
  [["Patch", "Create", "Update"], "update"],
])(
  "of a Transaction that is deleted while a window of items is rolled back, none is said to be applied that is restored: %s",
  (types, last) => {
    const rollingBack = (left: Partial<Budget>): State =>
      reach(
        begin(types, { ...NEVER, all: 1, refused: 1 }),
        rules,
        [`change: ${last} Widget shop/c → denied by admission`],
        "RollingBack",
        { ...NEVER, ...left },
      );

    it("by the process that has restored it", () => {
      expect(showViolations(explore(rollingBack({ all: 1, wishes: 1 }), rules))).toBe("");
    });

    it("by another process", () => {
      expect(showViolations(explore(rollingBack({ all: 2, wishes: 1, crash: 1 }), rules))).toBe("");
    });
  },
);
