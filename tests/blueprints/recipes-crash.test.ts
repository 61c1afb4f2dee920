// More recipes survive a crash at each of their requests, lost responses and wrong answers; all of them a second crash.
import { describe, expect, it } from "vitest";
import { answerEverywhere, crashEverywhere, crashTwice, type Subject } from "../crash/any-controller.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { csi } from "./csi-recipe.ts";
import { dump } from "./dump.ts";
import { scaling } from "./scale-recipe.ts";
import { client } from "./world.ts";

const CRASHES = share({ npmTest: 48, ci: 32 });
const [FIRST, SECOND] = [share({ npmTest: 60, ci: 60 }), share({ npmTest: 60, ci: 40 })];
const ANSWERS = share({ npmTest: 384, ci: 256 });

const RECIPES: readonly (readonly [string, Subject<object>])[] = [
  ["that scales, changes objects and waits", scaling],
  ["that takes, imports, restores and deletes snapshots", csi],
];

describe.each(RECIPES)("a recipe %s", (_, recipe) => {
  it(`ends the same, and does each thing once, wherever its controller crashes${showShare("crash", CRASHES)}`, async () => {
    const { wrong, runs } = await crashEverywhere(client, recipe, CRASHES);
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  }, 3_600_000);

  it(`ends the same whatever passing trouble answers its requests${showShare("answer", ANSWERS)}`, async () => {
    const { wrong, runs } = await answerEverywhere(client, recipe, ANSWERS);
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  }, 3_600_000);
});

const crashes = `${showShare("first crash", FIRST)}${showShare("second crash", SECOND)}`;

it.each([["with commands, a retry and a deferPhase", dump] as const, ...RECIPES])(
  `a recipe %s ends the same where the controller that takes over crashes, too${crashes}`,
  async (_, recipe) => {
    const { wrong, runs } = await crashTwice(client, recipe, { first: FIRST, second: SECOND });
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(1);
  },
  86_400_000,
);
