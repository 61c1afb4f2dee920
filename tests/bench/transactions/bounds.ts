// The figures that `--check` guards: each with the most that it may be now, and the most that it should be.
import { CPU } from "./at-once.ts";
import { CONTENTION } from "./contention.ts";
import { ROLLBACK } from "./rollback.ts";
import type { Measure } from "./scenario.ts";
import { sizeName } from "./scenarios.ts";
import { startName } from "./start.ts";

export interface Bound {
  readonly scenario: string;
  readonly measure: Measure;
  /** The ratio of the first side to this one is guarded; undefined: the median of the first side. */
  readonly to: string | undefined;
  /** More fails `--check`: what is measured today, with room for noise. */
  readonly bound: number;
  readonly goal: number;
}

const SERVER = "s of API server CPU per 1,000 changes";
const CONTROLLER = "s of controller CPU per 1,000 changes";

export const BOUNDS: readonly Bound[] = [
  { scenario: sizeName(10), measure: "ms", to: "bare writes", bound: 7, goal: 2 },
  { scenario: sizeName(50), measure: "ms", to: "bare writes", bound: 5, goal: 1.3 },
  { scenario: sizeName(500), measure: "ms", to: "bare writes", bound: 6, goal: 1.25 },
  { scenario: sizeName(10), measure: "ms", to: "kubectl apply", bound: 1.6, goal: 1 },
  { scenario: sizeName(50), measure: "ms", to: "kubectl apply", bound: 3.5, goal: 1 },
  { scenario: CPU, measure: SERVER, to: "bare writes", bound: 18, goal: 3 },
  { scenario: CPU, measure: CONTROLLER, to: undefined, bound: 8, goal: 2 },
  { scenario: startName(0), measure: "MiB idle", to: undefined, bound: 130, goal: 90 },
  { scenario: startName(0), measure: "MiB at work", to: undefined, bound: 200, goal: 200 },
  { scenario: startName(10_000), measure: "MiB idle", to: undefined, bound: 145, goal: 90 },
  { scenario: startName(10_000), measure: "MiB at work", to: undefined, bound: 200, goal: 200 },
  { scenario: startName(0), measure: "ms to first commit", to: undefined, bound: 3000, goal: 3000 },
  { scenario: CONTENTION, measure: "ms", to: "one after another", bound: 1.5, goal: 1.2 },
  { scenario: ROLLBACK, measure: "ms", to: "commit", bound: 2.5, goal: 1.8 },
];
