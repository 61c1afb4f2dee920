import { expect, it } from "vitest";
import { stories } from "../unit/model/stories.ts";
import { phaseOf } from "./deed.ts";
import { violations } from "./invariants.ts";
import { tell } from "./storyteller.ts";
import { theatre } from "./theatre.ts";
import { installWidgets, widgets } from "./widgets.ts";

const casting = theatre([widgets], installWidgets);

it.each(Object.entries(stories))("ends well on the real API server, too: %s", async (name, story) => {
  const { play, left, wrong } = await tell(casting(), name, story);
  expect({ left, wrong }).toEqual({ left: [], wrong: [] });
  expect(violations({ ...play, scenario: { ...play.scenario, check: () => [] } }, play)).toEqual([]);
  expect(phaseOf(play.transactions.get("txn")?.object)).toBe(story.phase);
});
