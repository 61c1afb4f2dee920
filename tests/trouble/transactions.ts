// Lets the controller of Transactions do its work for the suites of trouble: one Transaction that commits, one that is rolled back.
import { violations } from "../crash/invariants.ts";
import { type Environment, runScenario } from "../crash/run-scenario.ts";
import { asPlanned, type Scenario, scenarios } from "../crash/scenario.ts";
import type { Run } from "./any-controller.ts";

/** By how they end. */
export const OUTCOMES = ["Committed", "RolledBack"] as const;

const scenarioOf = (outcome: (typeof OUTCOMES)[number]): Scenario => {
  const found = scenarios.findLast((one) => one.outcome === outcome);
  if (found === undefined) throw new Error(`no scenario ends as ${outcome}`);
  return found;
};

/** Compares with how it ends without trouble. */
export const transactionRun = async (
  environment: Environment,
  outcome: (typeof OUTCOMES)[number],
  theirs: Environment["theirs"] = environment.theirs,
): Promise<{ readonly name: string; readonly run: Run; readonly struck: Run }> => {
  const scenario = scenarioOf(outcome);
  const planned = await runScenario(environment, asPlanned(scenario), []);
  const from =
    (place: Environment): Run =>
    async (...hooks) =>
      violations(await runScenario(place, scenario, [], "at once", hooks), planned);
  return { name: scenario.name, run: from(environment), struck: from({ ...environment, theirs }) };
};
