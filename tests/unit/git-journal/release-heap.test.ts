import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { releaseHeap } from "../../../packages/git-journal/src/shell/release-heap.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const come = (objectCame: () => void, count: number): void => {
  for (let n = 0; n < count; n += 1) objectCame();
};

it("gives memory back once after many objects have come, when no more do, and not for a few", () => {
  const collect = vi.fn<() => void>();
  const objectCame = releaseHeap(collect);
  come(objectCame, 999);
  vi.advanceTimersByTime(60_000);
  expect(collect).not.toHaveBeenCalled();
  come(objectCame, 500);
  vi.advanceTimersByTime(4_000);
  objectCame();
  vi.advanceTimersByTime(4_000);
  expect(collect).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  come(objectCame, 10);
  vi.advanceTimersByTime(60_000);
  expect(collect).toHaveBeenCalledTimes(1);
});

it("leaves the process as it is where there is nothing to give back", () => {
  const objectCame = releaseHeap();
  come(objectCame, 1_000);
  expect(() => vi.advanceTimersByTime(60_000)).not.toThrow();
});
