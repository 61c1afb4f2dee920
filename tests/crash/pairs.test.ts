// Kills the controller of Transactions, and then the one that takes over, at all pairs of requests.
import { describe, expect, it } from "vitest";
import { runAll, type CrashRun, baselineOf } from "./matrix.ts";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { crashesAfterWrites, isThorough } from "./crash-schedule.ts";
import { bystander, configMap, creation, deletion, patch, refusedCreation, secret, spec } from "./objects.ts";
import type { Scenario } from "./scenario.ts";
import { crashCluster } from "./crash-cluster.ts";

const environment = crashCluster();

const patched = configMap("patched", { version: "1.0", kept: "yes" });
const patching = patch(patched, { data: { version: "2.0" } });
const creating = creation(configMap("created", { made: "yes" }));
const deleting = deletion(secret("deleted"));

const core: readonly Scenario[] = [
  {
    name: "changes of three types commit",
    outcome: "Committed",
    before: [bystander, patched, secret("deleted")],
    spec: spec([patching, creating, deleting]),
  },
  {
    name: "changes of three types are rolled back",
    outcome: "RolledBack",
    before: [bystander, patched, secret("deleted")],
    spec: spec([patching, deleting, refusedCreation]),
  },
];

/** Of the first crashes, and of the second ones after each. */
const [FIRST, SECOND] = [share({ npmTest: 28, ci: 1 }), share({ npmTest: 7, ci: 80 })];
const shown = `${showShare("first crash", FIRST)}${showShare("second crash", SECOND)}`;

/**
 * The requests of the second controller are those of a run in which the first one has crashed. Both take over at once in one run,
 * and late in the next one.
 */
describe(`whenever the controller dies, and the one that takes over dies, too, the Transaction ends all or nothing${shown}`, () => {
  it.each(core)("$name", { timeout: 7_200_000 }, async (scenario) => {
    const baseline = await baselineOf(environment(), scenario);
    const once = sampled(crashesAfterWrites(baseline.undisturbed.traces[0] ?? []), FIRST);
    const survived = await runAll(
      environment(),
      baseline,
      once.map((fault) => ({ faults: [fault], takeover: "at once" })),
    );
    expect(survived.wrong).toEqual([]);
    const twice = once.flatMap((first, n) =>
      crashesAfterWrites(survived.runs[n]?.traces[1] ?? []).flatMap((second, m): readonly CrashRun[] => {
        const faults = [first, second];
        const [atOnce, late] = [
          { faults, takeover: "at once" },
          { faults, takeover: "late" },
        ] as const;
        return isThorough ? [atOnce, late] : [(n + m) % 2 === 0 ? atOnce : late];
      }),
    );
    expect((await runAll(environment(), baseline, sampled(twice, SECOND))).wrong).toEqual([]);
  });
});
