// A scenario, whose sides are measured in turn, round by round: machines drift, and neighbours in time share what disturbs them.
import { median, numbers } from "../figures.ts";

export type Measure =
  | "ms"
  | "ms to leading"
  | "ms to first commit"
  | "s of API server CPU per 1,000 changes"
  | "s of controller CPU per 1,000 changes"
  | "MiB idle"
  | "MiB at work";

export type Measured = Readonly<Partial<Record<Measure, number>>>;

/** Prepares a round, measures it, and waits until nothing is left to be done of it. `round` is unique within its scenario. */
export type Side = (round: number) => Promise<Measured>;

export interface Scenario {
  readonly name: string;
  /** In a quick run, and in a whole one. 0: it is left out. */
  readonly rounds: readonly [quick: number, whole: number];
  /** The first one is compared with each of the others. */
  readonly sides: Readonly<Record<string, Side>>;
}

/** One measure of a scenario. */
export interface Result {
  readonly scenario: string;
  readonly measure: Measure;
  /** Of each side that has this measure: a value for each round. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

/**
 * @param tell is called before each measurement
 * @param isLate no further round begins then
 */
export const measure = async (
  { name, sides }: Scenario,
  rounds: number,
  tell: (side: string, round: number) => void,
  isLate: () => boolean,
): Promise<readonly Result[]> => {
  const results = new Map<Measure, Record<string, number[]>>();
  for (const round of numbers(rounds)) {
    if (isLate()) break;
    for (const [side, run] of Object.entries(sides)) {
      tell(side, round);
      for (const [of, value] of Object.entries(await run(round)) as (readonly [Measure, number])[]) {
        const values = results.get(of) ?? {};
        results.set(of, { ...values, [side]: [...(values[side] ?? []), value] });
      }
    }
  }
  return [...results].map(([of, values]) => ({ scenario: name, measure: of, values }));
};

/** The median of the ratios of each round, of this side to that. */
export const ratio = ({ values }: Result, side: string, to: string): number =>
  median((values[side] ?? []).map((value, round) => value / (values[to]?.[round] ?? Number.NaN)));

/** The first side, the one that the others are compared with. */
export const subject = ({ values }: Result): string => Object.keys(values)[0] ?? "";
