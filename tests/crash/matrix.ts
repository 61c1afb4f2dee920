// Runs a scenario once for each crash, many side by side, and says what was wrong.
import { expect } from "vitest";
import { phaseOf } from "./user-action.ts";
import { violations } from "./invariants.ts";
import { show } from "./crash-schedule.ts";
import type { Asked, Fault } from "./crashing-process.ts";
import { type Environment, type ScenarioRun, runScenario, type Takeover } from "./run-scenario.ts";
import { asPlanned, type Scenario } from "./scenario.ts";

const isIn = (trace: readonly Asked[], { text, nth }: Fault): boolean =>
  trace.some((asked) => asked.text === text && asked.nth === nth);

/** One run of a matrix: the fault of each controller, and when the next one starts. */
export interface CrashRun {
  readonly faults: readonly Fault[];
  readonly takeover: Takeover;
}

/** Concurrent runs, including those that only wait until locks have expired. */
const CONCURRENCY = 48;

/** One line of output for each so many runs. */
const PROGRESS = 100;

export interface MatrixResult {
  /** In order; `undefined` if a run did not end. */
  readonly runs: readonly (ScenarioRun | undefined)[];
  /** What is wrong with any of them. */
  readonly wrong: readonly string[];
  /** How many faults there should have been, and how many there were. */
  readonly meant: number;
  readonly occurred: number;
}

/**
 * Fewer than these say nothing: requests that depend on time are not sent in each run, and on a slow machine time runs out earlier.
 */
const ENOUGH = 10;

/** That the runs are not those of which somebody thinks that they are. */
export const missed = ({ meant, occurred }: Pick<MatrixResult, "meant" | "occurred">): readonly string[] =>
  meant >= ENOUGH && occurred < meant / 2 ? [`only ${occurred} of ${meant} faults occurred`] : [];

/** Runs a scenario once for each of these. */
export const runAll = async (
  environment: Environment,
  { scenario, planned }: Baseline,
  crashRuns: readonly CrashRun[],
): Promise<MatrixResult> => {
  const runs: (ScenarioRun | undefined)[] = [];
  const found: string[] = [];
  let ended = 0;
  let occurred = 0;
  const began = performance.now();
  const report = (...texts: readonly string[]): void => {
    found.push(...texts.map((text) => text.slice(0, 1000)));
    for (const text of texts) console.log(`WRONG: ${text.slice(0, 1000)}`);
  };
  const runOne = async ({ faults, takeover }: CrashRun): Promise<ScenarioRun | undefined> => {
    const schedule = `${show(faults)}; taken over ${takeover}`;
    try {
      const one = await runScenario(environment, scenario, faults, takeover);
      occurred += faults.filter((fault, life) => isIn(one.traces[life] ?? [], fault)).length;
      report(...violations(one, planned).map((text) => `${schedule}: ${text}`));
      return one;
    } catch (error) {
      report(`${schedule}: ${String(error)}`);
      return undefined;
    }
  };
  const left = crashRuns.entries();
  const lane = async (): Promise<void> => {
    for (const [index, one] of left) {
      runs[index] = await runOne(one);
      ended += 1;
      if (ended % PROGRESS > 0 && ended < crashRuns.length) continue;
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`${scenario.name}: ${ended} of ${crashRuns.length} runs in ${seconds} s`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  const meant = crashRuns.flatMap(({ faults }) => faults).length;
  return { runs, wrong: [...found, ...missed({ meant, occurred })], meant, occurred };
};

export interface Baseline {
  readonly scenario: Scenario;
  readonly undisturbed: ScenarioRun;
  readonly planned: ScenarioRun;
}

/** The scenario without faults, and as it is planned. */
export const baselineOf = async (environment: Environment, scenario: Scenario): Promise<Baseline> => {
  const [undisturbed, planned] = await Promise.all([
    runScenario(environment, scenario, []),
    runScenario(environment, asPlanned(scenario), []),
  ]);
  expect(violations(planned, planned)).toEqual([]);
  expect(violations(undisturbed, planned)).toEqual([]);
  expect(phaseOf(undisturbed.transactions.get("txn")?.object)).toBe(scenario.outcome);
  return { scenario, undisturbed, planned };
};
