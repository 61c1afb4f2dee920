// Transactions of two controllers over the same targets never interleave.
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { seed } from "../fixtures/sample.ts";
import { connectAll, contest, hold, PATIENCE } from "./contest.ts";
import { newTestBed, type TestBed } from "./test-bed.ts";

let testBed: TestBed;
beforeAll(async () => void (testBed = await newTestBed()));
afterAll(() => testBed.clear());

/** Contests at the same time, and how many come after each other. */
const [SIDE_BY_SIDE, RUNS] = [4, 2];

it(
  `Transactions of two controllers over the same targets never interleave, and all come to their end, whoever dies when (JANUS_SEED=${seed})`,
  async () => {
    const theirs = connectAll(testBed.connection);
    onTestFinished(theirs.close);
    const property = fc.asyncProperty(contest, async (drawn) => {
      expect(await hold({ ...testBed.environment, theirs }, drawn)).toEqual([]);
    });
    const lanes = Array.from({ length: SIDE_BY_SIDE }, (_, lane) =>
      fc.assert(property, { seed: seed + lane, numRuns: RUNS, endOnFailure: true }),
    );
    // All to their end: one that fails would close the connections of the others.
    const failed = (await Promise.allSettled(lanes)).filter(({ status }) => status === "rejected");
    expect(failed).toEqual([]);
  },
  (RUNS + 1) * PATIENCE,
);
