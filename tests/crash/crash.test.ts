import { describe, expect, it } from "vitest";
import { deathsAfterWrites, everyMishap, performAll, type Performance, rehearsal, theatre } from "./matrix.ts";
import type { Mishap } from "./mortal.ts";
import type { Takeover } from "./play.ts";
import { scenarios } from "./scenario.ts";

const casting = theatre();

const all = (mishaps: readonly Mishap[], takeover: Takeover): readonly Performance[] =>
  mishaps.map((mishap) => ({ mishaps: [mishap], takeover }));

describe("whenever the controller dies, the Transaction ends all or nothing", () => {
  it.each(scenarios)("$name", { timeout: 3_600_000 }, async (scenario) => {
    const rehearsed = await rehearsal(casting(), scenario);
    const [trace = []] = rehearsed.undisturbed.traces;
    const late = all(deathsAfterWrites(trace), "late");
    const { wrong } = await performAll(casting(), rehearsed, [...late, ...all(everyMishap(trace), "at once")]);
    expect(wrong).toEqual([]);
  });
});
