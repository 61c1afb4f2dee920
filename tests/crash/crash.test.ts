// Kills the controller of Transactions before and after every request of every scenario.
import { describe, expect, it } from "vitest";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { runAll, type CrashRun, baselineOf, missed } from "./matrix.ts";
import { crashesAfterWrites, distinctFaults, everyFault } from "./crash-schedule.ts";
import type { Fault } from "./crashing-process.ts";
import type { Takeover } from "./run-scenario.ts";
import { type Scenario, scenarios } from "./scenario.ts";
import { gates } from "./scenarios/gates.ts";
import { contentsElsewhere } from "./scenarios/contents.ts";
import { deletions } from "./scenarios/deletion.ts";
import { drafts } from "./scenarios/drafts.ts";
import { rivals } from "./scenarios/rivals.ts";
import { turns } from "./scenarios/turning.ts";
import { waits } from "./scenarios/waiting.ts";
import { crashCluster } from "./crash-cluster.ts";

const environment = crashCluster();

/**
 * Of the crashes of each scenario: all of them take an hour and a half on two cores. Few of one scenario mostly wait for
 * locks to expire, so that of a sample several scenarios go on side by side.
 */
const SHARE = share({ npmTest: 180, ci: 150 });
const SCENARIOS = share({ npmTest: 8, ci: 6 });
const shown = `${showShare("crash", SHARE)}${showShare("scenario", SCENARIOS)}`;

const all = (faults: readonly Fault[], takeover: Takeover): readonly CrashRun[] =>
  faults.map((fault) => ({ faults: [fault], takeover }));

const OF: readonly (readonly [what: string, scenarios: readonly Scenario[], faults: typeof everyFault])[] = [
  ["success, and failure at each position", scenarios, everyFault],
  ["waiting for locks and finalizers, and timeouts", waits, distinctFaults],
  ["gates", gates, distinctFaults],
  ["contents in a ConfigMap and a Secret", contentsElsewhere, distinctFaults],
  ["refusal, rollback on request, failure, recovery, expiry", turns, distinctFaults],
  ["Drafts, and what was approved", drafts, distinctFaults],
  ["several at once", rivals, distinctFaults],
  ["deletion in each phase", deletions, distinctFaults],
];

/** Of all scenarios: of a short one, a sample may be a single crash. */
const total = { meant: 0, occurred: 0 };

describe(`whenever the controller dies, the Transaction ends all or nothing${shown}`, () => {
  const of = OF.map(([what, all, faults]) => [what, sampled(all, SCENARIOS), faults] as const);
  describe.each(of.filter(([, { length }]) => length > 0))("%s", (_, scenarios, faults) => {
    it.each(scenarios)("$name", { timeout: 3_600_000, concurrent: SHARE > 1 }, async (scenario) => {
      const baseline = await baselineOf(environment(), scenario);
      const [trace = []] = baseline.undisturbed.traces;
      const late = all(crashesAfterWrites(trace), "late");
      const crashRuns = sampled([...late, ...all(faults(trace), "at once")], SHARE);
      const { wrong, meant, occurred } = await runAll(environment(), baseline, crashRuns);
      total.meant += meant;
      total.occurred += occurred;
      expect(wrong).toEqual([]);
    });
  });

  it("most of the crashes that were meant occurred", () => {
    expect(total.meant).toBeGreaterThan(0);
    expect(missed(total)).toEqual([]);
  });
});
