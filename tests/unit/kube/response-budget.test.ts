import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { manualClock } from "./manual-clock.ts";
import { responseBudget } from "../../../packages/kube/src/http/response-budget.ts";

const flow = () => {
  const self = {
    isPaused: false,
    pause: () => void (self.isPaused = true),
    resume: () => void (self.isPaused = false),
  };
  return self;
};

describe("answers that come side by side", () => {
  it("come one by one when all together are too large, the first one first", () => {
    const [a, b, c] = [flow(), flow(), flow()];
    const { came, ended } = responseBudget(100);
    came(a, 60);
    came(b, 60);
    came(c, 1);
    came(a, 1000);
    expect([a, b, c].map(({ isPaused }) => isPaused)).toEqual([false, true, true]);
    ended(a);
    expect([a, b, c].map(({ isPaused }) => isPaused)).toEqual([false, false, false]);
  });

  it("do not wait for one that has stalled, and for the next one only as long as it moves", async () => {
    const clock = manualClock();
    const [a, b, c, d] = [flow(), flow(), flow(), flow()];
    const arePaused = () => [a, b, c, d].map(({ isPaused }) => isPaused);
    const { came, ended } = responseBudget(100, clock);
    came(a, 200);
    for (const one of [b, c, d]) came(one, 60);
    expect(arePaused()).toEqual([false, true, true, true]);
    await clock.pass(500);
    expect(arePaused()).toEqual([false, false, true, true]);
    came(b, 60);
    await clock.pass(500);
    expect(arePaused()).toEqual([false, false, true, true]);
    ended(b);
    expect(arePaused()).toEqual([false, false, false, true]);
    // The stalled one keeps its bytes, and may go on.
    came(a, 60);
    expect(arePaused()).toEqual([false, false, false, true]);
    await clock.pass(500);
    await clock.pass(500);
    expect(arePaused()).toEqual([false, false, false, false]);
  });

  it("never all wait, and none waits for ever, whatever comes of which", () => {
    const steps = fc.array(fc.tuple(fc.nat(5), fc.nat(80), fc.boolean()), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const flows = Array.from({ length: 6 }, flow);
        const open = new Set<ReturnType<typeof flow>>();
        const { came, ended } = responseBudget(100);
        for (const [at, bytes, ends] of all) {
          const one = flows[at] ?? flow();
          if (one.isPaused) continue;
          open.add(one);
          came(one, bytes);
          if (ends && !one.isPaused) {
            ended(one);
            open.delete(one);
          }
          expect(open.size > 0 && [...open].every(({ isPaused }) => isPaused)).toBe(false);
        }
        while (open.size > 0) {
          const next = [...open].find(({ isPaused }) => !isPaused);
          expect(next).toBeDefined();
          if (next === undefined) return;
          ended(next);
          open.delete(next);
        }
      }),
    );
  });
});
