// The verdict of `npm run bench -- --check`, on results that were never measured.
import { describe, expect, it } from "vitest";
import { type Bound, BOUNDS } from "../../bench/transactions/bounds.ts";
import type { Cluster } from "../../bench/transactions/cluster.ts";
import type { Controllers } from "../../bench/transactions/controllers.ts";
import { measure, ratio, type Result } from "../../bench/transactions/scenario.ts";
import { scenarios } from "../../bench/transactions/scenarios.ts";
import { resultTable, verdictTable } from "../../bench/transactions/table.ts";
import { verdicts } from "../../bench/transactions/verdict.ts";

const result = (janus: readonly number[], bare: readonly number[]): Result => ({
  scenario: "ten",
  measure: "ms",
  values: { Janus: janus, bare },
});
const guarded = (to: string | undefined): Bound => ({ scenario: "ten", measure: "ms", to, bound: 3, goal: 2 });
const standing = (results: readonly Result[], to?: string) => verdicts(results, [guarded(to)]).map(({ is }) => is);

describe("a check of the benchmark", () => {
  it.each([
    [2, "reached"],
    [2.1, "guarded"],
    [3, "guarded"],
    [3.1, "exceeded"],
    [Number.NaN, "exceeded"],
  ])("of %d, where 3 is the bound and 2 the goal, is: %s", (value, is) => {
    expect(standing([result([value], [1])])).toEqual([is]);
    expect(standing([result([value], [1])], "bare")).toEqual([is]);
  });

  it("does not fail for a figure that was not measured", () => {
    expect(standing([])).toEqual(["not measured"]);
    expect(standing([result([9], [1])], "helm")).toEqual(["not measured"]);
  });

  it("takes the ratios of the rounds, in which all sides had the same machine, and of these the median", () => {
    const drifting = result([2, 20, 200], [1, 10, 100]);
    expect(ratio(drifting, "Janus", "bare")).toBe(2);
    expect(ratio(result([1, 9, 4], [1, 1, 1]), "Janus", "bare")).toBe(4);
  });

  it("guards figures that a whole run measures, and none more tightly than its goal", () => {
    // A scenario asks nothing of a cluster before it is measured.
    const none = { cluster: {} as Cluster, controllers: {} as Controllers, helm: undefined, peer: undefined };
    const whole = scenarios(none).filter(({ rounds }) => rounds[1] > 0);
    expect(new Set(whole.map(({ name }) => name)).size).toBe(whole.length);
    for (const { scenario, to, bound, goal } of BOUNDS) {
      const sides = whole.filter(({ name }) => name === scenario).flatMap((one) => Object.keys(one.sides));
      expect(sides, scenario).not.toEqual([]);
      expect(sides, scenario).toContain(to ?? sides[0]);
      expect(bound, scenario).toBeGreaterThanOrEqual(goal);
    }
  });
});

it("the sides of a scenario take turns, and no round begins when the time is over", async () => {
  const turns: string[] = [];
  const results = await measure(
    {
      name: "ten",
      rounds: [1, 5],
      sides: {
        Janus: (round) => Promise.resolve({ ms: round, "MiB idle": 7 }),
        bare: (round) => Promise.resolve({ ms: 10 * round }),
      },
    },
    5,
    (side, round) => turns.push(`${side} ${round}`),
    () => turns.length === 4,
  );
  expect(turns).toEqual(["Janus 0", "bare 0", "Janus 1", "bare 1"]);
  expect(results).toEqual([
    { scenario: "ten", measure: "ms", values: { Janus: [0, 1], bare: [0, 10] } },
    { scenario: "ten", measure: "MiB idle", values: { Janus: [7, 7] } },
  ]);
});

it("the tables have a row for each side, and for each bound", () => {
  const results = [result([30, 10], [10, 10])];
  expect(resultTable(results)).toBe(
    [
      "| scenario | side | median | rounds | ratio |",
      "| --- | --- | --- | --- | --- |",
      "| ten | Janus | 30.0 ms | 2 |  |",
      "| ten | bare | 10.0 ms | 2 | 3.00 |",
    ].join("\n"),
  );
  expect(
    verdictTable(verdicts(results, [guarded("bare")]))
      .split("\n")
      .at(-1),
  ).toBe("| ten: ms, against bare | 3.00 | 3.00 | 2.00 | guarded |");
});
