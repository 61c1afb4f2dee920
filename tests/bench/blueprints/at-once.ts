// Many ActionSets at once, in turn with as many chains of bare Pods.
import type { Cluster } from "./cluster.ts";
import { type Figure, median, numbers, seconds, timed } from "../figures.ts";
import { tasks } from "./phases.ts";
import { runBarePod } from "./pods.ts";
import { isComplete } from "./progress.ts";

const AT_ONCE = 20;
const PHASES = 3;
const ROUNDS = 3;

export const RECIPE = "three";

export const atOnceFigures = async (place: Cluster): Promise<readonly Figure[]> => {
  const { recipe, submit, actionSets } = place;
  await recipe(RECIPE, tasks(PHASES));
  const bare: number[] = [];
  const whole: number[] = [];
  for (const round of numbers(ROUNDS)) {
    const chain = async (of: number): Promise<void> => {
      for (const n of numbers(PHASES)) await runBarePod(place, `chain-${round}-${of}-${n}`);
    };
    bare.push(await timed(() => Promise.all(numbers(AT_ONCE).map(chain))));
    const execute = async (of: number): Promise<void> => {
      const name = `at-once-${round}-${of}`;
      await submit(name, RECIPE);
      await actionSets.when(name, isComplete);
    };
    whole.push(await timed(() => Promise.all(numbers(AT_ONCE).map(execute))));
  }
  return [
    {
      what: `${AT_ONCE} ActionSets of ${PHASES} phases at once, above as many chains of bare Pods`,
      measured: `${seconds(median(whole) - median(bare))} (${seconds(median(whole))} and ${seconds(median(bare))})`,
      most: "6 s",
    },
  ];
};
