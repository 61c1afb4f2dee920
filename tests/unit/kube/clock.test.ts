import { delayAfter, systemClock } from "@janus/kube";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { settled } from "./manual-clock.ts";

const day = 24 * 60 * 60 * 1000;

/** Lets this much time pass, and one turn of the event loop. */
const fakeTimers = (): ((ms: number) => Promise<void>) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return async (ms) => {
    vi.advanceTimersByTime(ms);
    await settled();
  };
};

describe("the system's clock", () => {
  it.each([0, 1, day, 24.8 * day, 25 * day, 100 * day])(
    "waits %d ms, also where that is more than a timer of Node can",
    async (ms) => {
      const pass = fakeTimers();
      let runs = 0;
      systemClock.after(ms, () => (runs += 1));
      await pass(Math.max(0, ms - 1));
      expect(runs).toBe(0 + Number(ms === 0));
      await pass(1);
      expect(runs).toBe(1);
      await pass(200 * day);
      expect(runs).toBe(1);
    },
  );

  it.each([10, 100 * day])("does not run what was called off, early or late", async (ms) => {
    const pass = fakeTimers();
    let runs = 0;
    const cancel = systemClock.after(ms, () => (runs += 1));
    await pass(ms - 1);
    cancel();
    await pass(200 * day);
    expect(runs).toBe(0);
  });
});

describe("a backoff", () => {
  it("doubles from its first delay to its cap, never below half of that, and never above", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, random) => {
          const whole = Math.min(60_000, 200 * 2 ** (failures - 1));
          const delay = delayAfter(failures, { first: 200, cap: 60_000 }, random);
          expect(delay).toBeGreaterThanOrEqual(whole / 2);
          expect(delay).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });
});
