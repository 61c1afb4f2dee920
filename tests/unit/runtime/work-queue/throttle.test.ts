import { throttle } from "@janus/runtime/parts";
import { describe, expect, it } from "vitest";
import { manualClock } from "../../kube/manual-clock.ts";

describe("what is asked for of a key again and again", () => {
  it("runs at once, and then no more often than each interval, however often it is asked for", async () => {
    const clock = manualClock();
    const ran: (readonly [string, number])[] = [];
    const ask = throttle(1000, (key) => ran.push([key, clock.now()]), clock);
    for (let at = 0; at < 25; at += 1) {
      ask("a");
      if (at === 3) ask("b");
      await clock.pass(100);
    }
    await clock.pass(5000);
    expect(ran).toEqual([
      ["a", 0],
      ["b", 300],
      ["a", 1000],
      ["a", 2000],
      ["a", 3000],
    ]);
  });

  it("is forgotten when it is not asked for any more", async () => {
    const clock = manualClock();
    const ask = throttle(1000, () => {}, clock);
    for (let n = 0; n < 100; n += 1) ask(`${n}`);
    expect(clock.planned()).toBe(100);
    await clock.pass(2000);
    expect(clock.planned()).toBe(0);
  });
});
