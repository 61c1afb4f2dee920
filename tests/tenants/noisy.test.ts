import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attacks } from "./attacks.ts";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { median } from "./bystander.ts";
import { openTestBed, type TestBed } from "./test-bed.ts";
import { tenant } from "./tenant.ts";

/** Of the bystander's Transactions, before an attack, during it and after it. */
const ALONE = 3;
const BESIDE = 5;

/** Where other tests run on the same machine it is only told; `JANUS_EXHAUSTIVE=1`, for this file alone, asserts it. */
const MOST_SLOWDOWN = process.env["JANUS_EXHAUSTIVE"] === "1" ? 3 : Number.POSITIVE_INFINITY;
/** What the controller may hold resident, of the 512 MiB that the Deployment allows. */
const MOST_MEMORY = 250 * 2 ** 20;

const SHARE = share({ npmTest: 12, ci: 2 });

let testBed: TestBed;
const report: string[] = [];

beforeAll(async () => {
  testBed = await openTestBed();
  await testBed.bystander.times(5);
}, 300_000);
afterAll(async () => {
  await testBed.end();
  console.log(["", "Beside a noisy neighbour:", ...report].join("\n  "));
}, 60_000);

const inMiB = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

describe(`a user who may edit in one namespace stops no Transaction in another one${showShare("attack", SHARE)}`, {
  timeout: 240_000,
}, () => {
  it.each(sampled(attacks, SHARE).map(({ title, attack }, n) => [title, attack, n] as const))(
    "with %s",
    async (title, attack, n) => {
      const author = await tenant(testBed, `author-${n}`);
      const before = await testBed.bystander.times(ALONE);
      const [term, falls] = [await testBed.term(), testBed.janus.falls()];
      await Promise.all([testBed.mostMemory(), testBed.mostDelay()]);

      const end = await attack(author, testBed);
      let beside: readonly number[] = [];
      try {
        beside = await testBed.bystander.times(BESIDE);
      } finally {
        await end();
      }
      await author.clear();
      const [memory, delay] = await Promise.all([testBed.mostMemory(), testBed.mostDelay()]);

      const after = await testBed.bystander.times(ALONE);
      const [alone, slow] = [median([...before, ...after]), median(beside)];
      report.push(
        `${title}: ${(slow / alone).toFixed(1)} times as long (${slow.toFixed(0)} ms, ${alone.toFixed(0)} ms alone), ${inMiB(memory)}, event loop held up for ${delay.toFixed(0)} ms`,
      );
      expect(testBed.janus.falls()).toBe(falls);
      expect(await testBed.term()).toBe(term);
      expect(slow).toBeLessThan(MOST_SLOWDOWN * alone);
      expect(memory).toBeLessThan(MOST_MEMORY);
    },
  );
});
