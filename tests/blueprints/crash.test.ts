// A recipe survives a crash before and after each of its requests, each lost response, and each answer that is wrong and passes.
import { expect, it } from "vitest";
import { answerEverywhere, crashEverywhere } from "../crash/any-controller.ts";
import { share, showShare } from "../fixtures/sample.ts";
import { dump } from "./dump.ts";
import { client } from "./world.ts";

const SHARE = share({ npmTest: 24, ci: 8 });
const ANSWERS = share({ npmTest: 192, ci: 56 });

it(`a recipe ends the same, and runs each command once, wherever its controller crashes${showShare("crash", SHARE)}`, async () => {
  const { wrong, runs: all } = await crashEverywhere(client, dump, SHARE);
  expect(wrong).toEqual([]);
  expect(all).toBeGreaterThan(0);
}, 1_800_000);

it(`a recipe ends the same whatever passing trouble answers its requests${showShare("answer", ANSWERS)}`, async () => {
  const { wrong, runs: all } = await answerEverywhere(client, dump, ANSWERS);
  expect(wrong).toEqual([]);
  expect(all).toBeGreaterThan(0);
}, 1_800_000);
