// Scenarios of several Transactions over the same targets.
import { bystander, configMap, patch, refusedCreation, spec } from "../objects.ts";
import type { ScenarioRun } from "../run-scenario.ts";
import type { Scenario } from "../scenario.ts";

const NAMES = ["a", "b", "c"];
const targets = NAMES.map((name) => configMap(name, { by: "nobody" }));

/** Each over two of the targets, so that any two of them share one. */
const patches = (by: string, ...names: readonly string[]) =>
  names.map((name) => patch(configMap(name), { data: { by } }));

/** Whose writes they are: names of Transactions stand in their field managers. A deletion has none. */
const authors = ({ written }: ScenarioRun): readonly { readonly by: string; readonly target: string }[] =>
  written.flatMap((line) => {
    const [, by, target] = /^janus-(txn|rival-\d)-\S* (?:apply|update) (\S+)$/.exec(line) ?? [];
    return by === undefined || target === undefined ? [] : [{ by, target }];
  });

/** One after the other, and what is there in the end is of the last that committed. */
const interleaved = (run: ScenarioRun): readonly string[] => {
  const writes = authors(run);
  const turns = writes.map(({ by }) => by).filter((by, at, all) => by !== all[at - 1]);
  const order = new Set(turns).size === turns.length ? [] : [`they interleave: ${run.written.join(", ")}`];
  const ends = NAMES.flatMap((name) => {
    const last = writes.findLast(({ by, target }) => target === `ConfigMap/${name}` && by !== "txn");
    const is = (run.after.get(`ConfigMap/${name}`)?.["data"] as { readonly by?: string } | undefined)?.by;
    const should = last?.by ?? "nobody";
    return is === should ? [] : [`ConfigMap/${name} is by ${is}, not by ${should}`];
  });
  return [...order, ...ends];
};

/** Several Transactions at once over overlapping targets. */
export const rivals: readonly Scenario[] = [
  {
    name: "three over the same targets, of which one is rolled back",
    outcome: "RolledBack",
    before: [bystander, ...targets],
    spec: spec([...patches("txn", "a", "b"), refusedCreation]),
    rivals: [spec(patches("rival-1", "b", "c")), spec(patches("rival-2", "c", "a"))],
    check: interleaved,
  },
];
