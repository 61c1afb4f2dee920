// An atomic action whose last phase fails is rolled back wholly, wherever its controller crashes, and whatever answers are wrong.
import { expect, it } from "vitest";
import { answerEverywhere, crashEverywhere, crashTwice } from "../crash/any-controller.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { atomic } from "./atomic-recipe.ts";
import { client } from "./world.ts";

const CRASHES = share({ npmTest: 128, ci: 96 });
const [FIRST, SECOND] = [share({ npmTest: 150, ci: 150 }), share({ npmTest: 120, ci: 120 })];
const ANSWERS = share({ npmTest: 1024, ci: 768 });

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
