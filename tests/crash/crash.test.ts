import { describe, expect, it } from "vitest";
import { isExhaustive, sampled, seed } from "../fixtures/sample.ts";
import { performAll, type Performance, rehearsal } from "./matrix.ts";
import { deathsAfterWrites, differentMishaps, everyMishap } from "./mishaps.ts";
import type { Mishap } from "./mortal.ts";
import type { Takeover } from "./play.ts";
import { type Scenario, scenarios } from "./scenario.ts";
import { gates } from "./scenarios/gates.ts";
import { deletions } from "./scenarios/deletion.ts";
import { rivals } from "./scenarios/rivals.ts";
import { turns } from "./scenarios/turning.ts";
import { waits } from "./scenarios/waiting.ts";
import { theatre } from "./theatre.ts";

const casting = theatre();

/** Of all deaths of each scenario, one in so many is played in CI: all of them take an hour and a half of two cores. */
const SHARE = Number(process.env["JANUS_CRASH_SHARE"] ?? (process.env["CI"] === undefined ? 1 : 4));
const told = isExhaustive || SHARE === 1 ? "" : ` (one death in ${SHARE}, JANUS_SEED=${seed})`;

const all = (mishaps: readonly Mishap[], takeover: Takeover): readonly Performance[] =>
  mishaps.map((mishap) => ({ mishaps: [mishap], takeover }));

const OF: readonly (readonly [what: string, scenarios: readonly Scenario[], mishaps: typeof everyMishap])[] = [
  ["success, and failure at each position", scenarios, everyMishap],
  ["waiting for locks and finalizers, and timeouts", waits, differentMishaps],
  ["gates", gates, differentMishaps],
  ["refusal, rollback on request, failure, recovery, expiry", turns, differentMishaps],
  ["several at once", rivals, differentMishaps],
  ["deletion in each phase", deletions, differentMishaps],
];

describe(`whenever the controller dies, the Transaction ends all or nothing${told}`, () => {
  describe.each(OF)("%s", (_, scenarios, mishaps) => {
    it.each(scenarios)("$name", { timeout: 3_600_000 }, async (scenario) => {
      const rehearsed = await rehearsal(casting(), scenario);
      const [trace = []] = rehearsed.undisturbed.traces;
      const late = all(deathsAfterWrites(trace), "late");
      const performances = sampled([...late, ...all(mishaps(trace), "at once")], SHARE);
      const { wrong } = await performAll(casting(), rehearsed, performances);
      expect(wrong).toEqual([]);
    });
  });
});
