// Shows results and verdicts as tables in Markdown.
import { median } from "../figures.ts";
import { type Measure, ratio, type Result, subject } from "./scenario.ts";
import type { Verdict } from "./verdict.ts";

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const shown = (measure: Measure, value: number): string =>
  `${value.toFixed(value < 100 ? 1 : 0)} ${measure.replace(/ .*$/u, "")}`;
const rest = (measure: Measure): string => measure.replace(/^\S+ ?/u, "");

/** A row for each side. The ratio is the median of those of the rounds: of the first side to this one. */
export const resultTable = (results: readonly Result[]): string =>
  table(
    ["scenario", "side", "median", "rounds", "ratio"],
    results.flatMap((result) =>
      Object.entries(result.values).map(([side, values]) => [
        [result.scenario, rest(result.measure)].filter((part) => part !== "").join(": "),
        side,
        shown(result.measure, median(values)),
        `${values.length}`,
        side === subject(result) ? "" : ratio(result, subject(result), side).toFixed(2),
      ]),
    ),
  );

const number = (value: number): string => (value < 100 ? value.toFixed(2) : value.toFixed(0));

export const verdictTable = (all: readonly Verdict[]): string =>
  table(
    ["guarded", "measured", "bound", "goal", ""],
    all.map(({ scenario, measure, to, measured, bound, goal, is }) => [
      `${scenario}: ${measure}${to === undefined ? "" : `, against ${to}`}`,
      measured === undefined ? "" : number(measured),
      number(bound),
      number(goal),
      is,
    ]),
  );
