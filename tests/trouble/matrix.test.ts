// Each kind of request meets each trouble, and so does each write: of Transactions.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eachKindMeetsTrouble, eachWriteMeetsTrouble } from "./any-controller.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { newTestBed, type TestBed } from "./test-bed.ts";
import { OUTCOMES, transactionRun } from "./transactions.ts";

const SHARE = share({ npmTest: 6, ci: 6 });
const WRITES = share({ npmTest: 3, ci: 6 });

let testBed: TestBed;
beforeAll(async () => void (testBed = await newTestBed()));
afterAll(() => testBed.clear());

describe.each(OUTCOMES)(`trouble on the way to %s${showShare("trouble", SHARE)}`, (outcome) => {
  it("is waited out, whatever it is and whichever kind of request meets it", async () => {
    const { run } = await transactionRun(testBed.environment, outcome);
    const { wrong, usual, met } = await eachKindMeetsTrouble(run, testBed.badWay, SHARE);
    expect(wrong).toEqual([]);
    expect(usual.filter((kind) => !met.has(kind))).toEqual([]);
    expect(met.size).toBeGreaterThan(usual.length);
  });

  it(`is waited out, whichever single write meets it on its way back${showShare("write", WRITES)}`, async () => {
    const { run } = await transactionRun(testBed.environment, outcome);
    expect(await eachWriteMeetsTrouble(run, testBed.badWay, WRITES)).toEqual([]);
  });
});
