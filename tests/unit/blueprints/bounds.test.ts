// Tests when a phase that has failed is executed again.
import { expect, it } from "vitest";
import { MOST_RERUNS, retryAt } from "../../../packages/blueprints/src/core/bounds.ts";

const attempts = (limit: number | undefined, isRerun: boolean): number => {
  const phase = limit === undefined ? {} : { retry: { limit } };
  return Array.from({ length: 200 }, (_, at) => at + 1).filter(
    (attempt) => retryAt(phase, attempt, isRerun, 0) !== undefined,
  ).length;
};

it.each([
  ["never, where nothing is said", undefined, false, 0],
  ["as often as it says", 3, false, 3],
  ["a few times where nobody knows what it has done, and it may be done again", undefined, true, MOST_RERUNS],
  ["as often as it says, where that is more", 20, true, 20],
])("a phase is executed again %s", (_, limit, isRerun, count) => {
  expect(attempts(limit, isRerun)).toBe(count);
});

it("waits twice as long before each attempt, up to a bound", () => {
  const phase = { retry: { limit: 100, backoff: "1s", maxBackoff: "3s" } };
  expect([1, 2, 3, 100].map((attempt) => retryAt(phase, attempt, false, 5000))).toEqual([6000, 7000, 8000, 8000]);
});
