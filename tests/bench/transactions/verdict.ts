// Compares results with their bounds.
import { median } from "../figures.ts";
import type { Bound } from "./bounds.ts";
import { ratio, type Result, subject } from "./scenario.ts";

export interface Verdict extends Bound {
  /** Undefined: it was not measured. */
  readonly measured: number | undefined;
  readonly is: "reached" | "guarded" | "exceeded" | "not measured";
}

const measuredOf = (results: readonly Result[], { scenario, measure, to }: Bound): number | undefined => {
  const result = results.find((one) => one.scenario === scenario && one.measure === measure);
  if (result === undefined) return undefined;
  if (to === undefined) return median(result.values[subject(result)] ?? []);
  return to in result.values ? ratio(result, subject(result), to) : undefined;
};

const standing = (measured: number | undefined, { bound, goal }: Bound): Verdict["is"] => {
  if (measured === undefined) return "not measured";
  if (!(measured <= bound)) return "exceeded";
  return measured <= goal ? "reached" : "guarded";
};

export const verdicts = (results: readonly Result[], bounds: readonly Bound[]): readonly Verdict[] =>
  bounds.map((bound) => {
    const measured = measuredOf(results, bound);
    return { ...bound, measured, is: standing(measured, bound) };
  });
