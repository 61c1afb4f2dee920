// Recipes survive a crash before and after each of their requests, a second crash, lost responses, and wrong answers that pass.
import { describe, expect, it } from "vitest";
import { answerEverywhere, crashEverywhere, crashTwice, type Subject } from "../crash/any-controller.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { csi } from "./csi-recipe.ts";
import { dump } from "./dump.ts";
import { scaling } from "./scale-recipe.ts";
import { client } from "./world.ts";

interface Case {
  readonly recipe: Subject<object>;
  /** Of single crashes, of first and second crashes, of wrong answers: one in so many. */
  readonly crash: number;
  readonly first: number;
  readonly second: number;
  readonly answer: number;
}

const CASES: Readonly<Record<string, Case>> = {
  "with commands, a retry and a deferPhase": {
    recipe: dump,
    crash: share({ npmTest: 24, ci: 8 }),
    first: share({ npmTest: 60, ci: 30 }),
    second: share({ npmTest: 60, ci: 20 }),
    answer: share({ npmTest: 192, ci: 56 }),
  },
  "that scales, changes objects and waits": {
    recipe: scaling,
    crash: share({ npmTest: 48, ci: 16 }),
    first: share({ npmTest: 60, ci: 30 }),
    second: share({ npmTest: 60, ci: 20 }),
    answer: share({ npmTest: 384, ci: 128 }),
  },
  "that takes, imports, restores and deletes snapshots": {
    recipe: csi,
    crash: share({ npmTest: 48, ci: 16 }),
    first: share({ npmTest: 60, ci: 30 }),
    second: share({ npmTest: 60, ci: 20 }),
    answer: share({ npmTest: 384, ci: 128 }),
  },
};

describe.each(Object.entries(CASES))("a recipe %s", (_, { recipe, crash, first, second, answer }) => {
  it(`ends the same, and does each thing once, wherever its controller crashes${showShare("crash", crash)}`, async () => {
    const { wrong, runs } = await crashEverywhere(client, recipe, crash);
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  }, 3_600_000);

  it(`ends the same where the controller that takes over crashes, too${showShare("first crash", first)}${showShare("second crash", second)}`, async () => {
    const { wrong, runs } = await crashTwice(client, recipe, { first, second });
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(1);
  }, 3_600_000);

  it(`ends the same whatever passing trouble answers its requests${showShare("answer", answer)}`, async () => {
    const { wrong, runs } = await answerEverywhere(client, recipe, answer);
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  }, 3_600_000);
});
