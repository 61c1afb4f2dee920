import { describe, expect, it } from "vitest";
import { isExhaustive, sampled, share } from "../../fixtures/sample.ts";
import { explore, type Exploration, showViolations } from "./explore.ts";
import { doing } from "./interludes.ts";
import type { Rules } from "./moment.ts";
import { changedByLater } from "./others.ts";
import { reach } from "./reach.ts";
import { takeOver } from "./run-effects.ts";
import { begin, NEVER, targetKey, type Type, TYPES } from "./scenario.ts";
import type { Budget, State } from "./state.ts";

const isThorough = isExhaustive || process.env["JANUS_MODEL"] === "thorough";

/** A process that takes over long after finds a retry that is due, and the locks of the former one. */
const rules: Rules = { fence: true, lateTakeover: true, recoveries: isThorough ? 2 : 1 };

/** The first request that rolls a change back. */
const RESTORES: Readonly<Record<Type, string>> = {
  Create: "delete",
  Update: "update",
  Patch: "update",
  Replace: "delete",
  Delete: "create",
};

const denied = (request: string): string => `${request} → denied by admission`;

/** Of three changes the last one is denied, and then the rollback of the second. The first is next, or its rollback has begun. */
const half = (
  [first, second]: readonly [Type, Type],
  left: Partial<Budget>,
  how: { readonly hasBegun: boolean; readonly before?: (state: State) => State },
): State => {
  const start = begin([first, second, "Patch"], { ...NEVER, all: 2, refused: 2 });
  const stopped = reach(start, rules, [denied("change: apply Widget shop/c")], "RollingBack", {
    ...NEVER,
    all: 1,
    refused: 1,
  });
  const schedule = [
    denied(`restore: ${RESTORES[second]} Widget shop/b`),
    ...(how.hasBegun ? [`restore: ${RESTORES[first]} Widget shop/a → ok`] : []),
  ];
  return reach(how.before?.(stopped) ?? stopped, rules, schedule, "RollingBack", { ...NEVER, ...left });
};

/** A later Transaction changes what the first one has made, which keeps it from being deleted. */
const laterChanges = (state: State): State => {
  const [next] = doing(state, targetKey(0), changedByLater);
  if (next === undefined) throw new Error("there is nothing to change");
  return next.state;
};

const withoutJournal = (state: State): State => {
  const objects = new Map([...state.world.objects].filter(([key]) => !key.includes("janus-journal-")));
  return { ...state, world: { ...state.world, objects } };
};

const exploration = (start: State, by = rules): Exploration => {
  const found = explore(start, by);
  console.log(`${found.states} states, ends ${JSON.stringify(found.ends)}`);
  return found;
};

const LEFT: Partial<Budget> = { all: 2, crash: 1, others: 1, refused: isThorough ? 1 : 0 };
const pairs = TYPES.flatMap((first) => TYPES.map((second) => [first, second] as const));

describe("a retry of a rollback does not look again at what is settled", () => {
  it.each(sampled(pairs, share({ npmTest: 25, ci: 25 })))(
    "restored, whatever others do to it since: %s, %s",
    (...types) => {
      const found = exploration(half(types, LEFT, { hasBegun: !isThorough }));
      expect(showViolations(found)).toBe("");
      expect(found.ends["RolledBack"]).toBeGreaterThan(0);
      expect(found.ends["Failed"]).toBeGreaterThan(0);
    },
  );

  it.each(sampled(["Replace", "Create"] as const, share({ npmTest: 2, ci: 2 })))(
    "left there on purpose: %s",
    (first) => {
      const found = exploration(half([first, "Patch"], LEFT, { hasBegun: false, before: laterChanges }));
      expect(showViolations(found)).toBe("");
      expect(found.ends["Failed"]).toBeGreaterThan(0);
    },
  );

  it.each(sampled(["Replace", "Create"] as const, share({ npmTest: 2, ci: 2 })))(
    "left there on purpose, also when the journal is lost: %s",
    (first) => {
      const failed = reach(
        half([first, "Patch"], {}, { hasBegun: false, before: laterChanges }),
        rules,
        [],
        "Failed",
        NEVER,
      );
      const left = { ...NEVER, all: 1, others: 1 };
      const retried = withoutJournal(reach(failed, rules, [], "RollingBack", left));
      const found = exploration(retried, { ...rules, recoveries: 2 });
      expect(showViolations(found)).toBe("");
      expect(found.ends["Failed"]).toBeGreaterThan(0);
      expect(found.ends["RolledBack"]).toBeUndefined();
    },
  );
});

it.each(TYPES)(
  "a rollback whose journal is lost keeps what others have done since to what was rolled back before: %s",
  (first) => {
    const start = begin([first, "Patch"], { ...NEVER, all: 2, refused: 1 });
    const refused = [denied("change: apply Widget shop/b")];
    const stopped = reach(start, rules, refused, "RollingBack", NEVER);
    const recorded = "checkpoint: mergePatch ConfigMap shop/janus-journal-u-txn → ok";
    const schedule = [`restore: ${RESTORES[first]} Widget shop/a → ok`, recorded];
    const restored = reach(stopped, rules, schedule, "RollingBack", { ...NEVER, all: 2, others: 2 });
    const found = exploration(takeOver(withoutJournal(restored), restored.now));
    expect(showViolations(found)).toBe("");
    expect(found.ends["RolledBack"]).toBeGreaterThan(0);
  },
);
