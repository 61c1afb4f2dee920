// Stories of the model that end well in it end well on the real API server.
import { expect, it } from "vitest";
import { stories } from "../unit/model/stories.ts";
import { phaseOf } from "./user-action.ts";
import { violations } from "./invariants.ts";
import { replay } from "./replay-schedule.ts";
import { crashCluster } from "./crash-cluster.ts";
import { installWidgets, widgets } from "./widgets.ts";

const environment = crashCluster([widgets], installWidgets);

it.each(Object.entries(stories))("ends well on the real API server, too: %s", async (name, story) => {
  const { run, left, wrong } = await replay(environment(), name, story);
  expect({ left, wrong }).toEqual({ left: [], wrong: [] });
  expect(violations({ ...run, scenario: { ...run.scenario, check: () => [] } }, run)).toEqual([]);
  expect(phaseOf(run.transactions.get("txn")?.object)).toBe(story.phase);
});
