// An atomic action whose last phase fails is rolled back wholly, wherever its controller crashes, and whatever answers are wrong.
import { expect, it } from "vitest";
import { answerEverywhere, crashEverywhere, crashTwice } from "../crash/any-controller.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { atomic } from "./atomic-recipe.ts";
import { client } from "./world.ts";

const CRASHES = share({ npmTest: 64, ci: 48 });
const [FIRST, SECOND] = [share({ npmTest: 90, ci: 90 }), share({ npmTest: 60, ci: 60 })];
const ANSWERS = share({ npmTest: 512, ci: 384 });

it(`is rolled back wherever its controller crashes${showShare("crash", CRASHES)}`, async () => {
  const { wrong, runs } = await crashEverywhere(client, atomic, CRASHES);
  expect(wrong).toEqual([]);
  expect(runs).toBeGreaterThan(0);
}, 3_600_000);

it(`is rolled back whatever passing trouble answers its requests${showShare("answer", ANSWERS)}`, async () => {
  const { wrong, runs } = await answerEverywhere(client, atomic, ANSWERS);
  expect(wrong).toEqual([]);
  expect(runs).toBeGreaterThan(0);
}, 7_200_000);

const crashes = `${showShare("first crash", FIRST)}${showShare("second crash", SECOND)}`;

it(`is rolled back where the controller that takes over crashes, too${crashes}`, async () => {
  const { wrong, runs } = await crashTwice(client, atomic, { first: FIRST, second: SECOND });
  expect(wrong).toEqual([]);
  expect(runs).toBeGreaterThan(0);
}, 86_400_000);
