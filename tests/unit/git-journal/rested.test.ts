// Tests that what is asked for often is done once, and that an error ends nothing.
import type { Log } from "@janus/runtime/parts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { rested } from "../../../packages/git-journal/src/shell/rested.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const silent: Log = () => undefined;

it("runs once for all who have asked, and again for who asks later", () => {
  const run = vi.fn<() => void>();
  const { soon } = rested("", silent, run);
  for (let n = 0; n < 5; n += 1) soon();
  vi.advanceTimersByTime(1_000);
  expect(run).toHaveBeenCalledTimes(1);
  soon();
  vi.advanceTimersByTime(1_000);
  expect(run).toHaveBeenCalledTimes(2);
});

it("rests after it has lasted long, but not for ever", () => {
  const run = vi.fn<() => void>();
  vi.spyOn(performance, "now")
    .mockReturnValueOnce(0)
    .mockReturnValueOnce(200)
    .mockReturnValueOnce(0)
    .mockReturnValueOnce(9_999);
  const { soon } = rested("", silent, run);
  const after = (ms: number): number => {
    soon();
    vi.advanceTimersByTime(ms);
    return run.mock.calls.length;
  };
  expect([after(50), after(1_799), after(1), after(4_999), after(1)]).toEqual([1, 1, 2, 2, 3]);
});

it("is run again after an error, which is logged", () => {
  const log = vi.fn<Log>();
  const run = vi.fn<() => void>(() => {
    throw new Error("no");
  });
  const { soon, stop } = rested("nothing is done", log, run);
  soon();
  vi.advanceTimersByTime(1_000);
  soon();
  vi.advanceTimersByTime(1_000);
  expect(run).toHaveBeenCalledTimes(2);
  expect(log).toHaveBeenCalledWith(
    "error",
    "internal error: nothing is done",
    expect.objectContaining({ error: "Error: no" }),
  );
  soon();
  stop();
  vi.advanceTimersByTime(1_000);
  expect(run).toHaveBeenCalledTimes(2);
});
