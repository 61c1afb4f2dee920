import { expect } from "vitest";
import { phaseOf } from "./deed.ts";
import { violations } from "./invariants.ts";
import { show } from "./mishaps.ts";
import type { Asked, Mishap } from "./mortal.ts";
import { type Casting, type Play, play, type Takeover } from "./play.ts";
import { asPlanned, type Scenario } from "./scenario.ts";

const isIn = (trace: readonly Asked[], { text, nth }: Mishap): boolean =>
  trace.some((asked) => asked.text === text && asked.nth === nth);

/** One play of a matrix: what befalls each life, and when the next one begins. */
export interface Performance {
  readonly mishaps: readonly Mishap[];
  readonly takeover: Takeover;
}

/** Plays that go on side by side, those included that only wait until locks have expired. */
const SIDE_BY_SIDE = 48;

/** One line each so many plays, for whoever watches. */
const PROGRESS = 100;

export interface Performed {
  /** In order; `undefined` where one came to no end. */
  readonly plays: readonly (Play | undefined)[];
  /** What is wrong with any of them. */
  readonly wrong: readonly string[];
}

/** Plays a scenario so often. */
export const performAll = async (
  casting: Casting,
  { scenario, planned }: Rehearsed,
  performances: readonly Performance[],
): Promise<Performed> => {
  const plays: (Play | undefined)[] = [];
  const found: string[] = [];
  let ended = 0;
  let came = 0;
  const began = performance.now();
  const tell = (...texts: readonly string[]): void => {
    found.push(...texts.map((text) => text.slice(0, 1000)));
    for (const text of texts) console.log(`WRONG: ${text.slice(0, 1000)}`);
  };
  const perform = async ({ mishaps, takeover }: Performance): Promise<Play | undefined> => {
    const story = `${show(mishaps)}; taken over ${takeover}`;
    try {
      const one = await play(casting, scenario, mishaps, takeover);
      came += mishaps.filter((mishap, life) => isIn(one.traces[life] ?? [], mishap)).length;
      tell(...violations(one, planned).map((text) => `${story}: ${text}`));
      return one;
    } catch (error) {
      tell(`${story}: ${String(error)}`);
      return undefined;
    }
  };
  const left = performances.entries();
  const lane = async (): Promise<void> => {
    for (const [index, one] of left) {
      plays[index] = await perform(one);
      ended += 1;
      if (ended % PROGRESS > 0 && ended < performances.length) continue;
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`${scenario.name}: ${ended} of ${performances.length} plays in ${seconds} s`);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  // What only time brings does not come in each play, and on a slow machine time runs out earlier.
  const meant = performances.flatMap(({ mishaps }) => mishaps).length;
  const missed = came < meant / 2 ? [`only ${came} of ${meant} mishaps came`] : [];
  return { plays, wrong: [...found, ...missed] };
};

export interface Rehearsed {
  readonly scenario: Scenario;
  readonly undisturbed: Play;
  readonly planned: Play;
}

/** The scenario without any mishap, and with nothing in its way. */
export const rehearsal = async (casting: Casting, scenario: Scenario): Promise<Rehearsed> => {
  const [undisturbed, planned] = await Promise.all([
    play(casting, scenario, []),
    play(casting, asPlanned(scenario), []),
  ]);
  expect(violations(planned, planned)).toEqual([]);
  expect(violations(undisturbed, planned)).toEqual([]);
  expect(phaseOf(undisturbed.transactions.get("txn")?.object)).toBe(scenario.outcome);
  return { scenario, undisturbed, planned };
};
