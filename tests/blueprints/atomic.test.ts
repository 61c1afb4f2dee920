// Atomic actions with both controllers: all changes of an action stay, or none.
import { expect, it, onTestFinished } from "vitest";
import { eventsOf } from "../fixtures/events.ts";
import { start as startTransactions } from "../fixtures/workspace.ts";
import { atomicRecipe, contents, EXISTING, FAILING, TRANSACTION, transactionsIn } from "./atomic-recipe.ts";
import { actionOn, actionSet } from "./objects.ts";
import { type BlueprintPlace, place } from "./world.ts";

const recipe = async (...phases: readonly object[]): Promise<BlueprintPlace> => {
  const at = await place();
  onTestFinished(startTransactions(at.namespace).stop);
  await at.create(...EXISTING, atomicRecipe(...phases), actionSet("run", actionOn("backup", "atomic")));
  return at;
};

it("rolls back what its phases have changed when a later one fails, before its deferPhase, and says so", async () => {
  const at = await recipe(FAILING);
  const { status } = await at.over("run");
  expect(status.state).toBe("failed");
  expect(status.error?.message).toMatch(/^phase fail: Transaction .*; rolled back: drop, edit, make$/u);
  expect(await contents(at.namespace)).toEqual({
    made: "absent",
    edited: { value: "old" },
    dropped: { value: "kept" },
    deferred: {},
  });
  const told = async () => (await eventsOf(at.namespace, "run")).map(({ reason, message }) => `${reason} ${message}`);
  await expect.poll(async () => new Set(await told())).toContain("Ended deferPhase Completed deferPhase note");
  expect(new Set(await told())).toContain("Rolled Back Phase Rolled back phase make");
  expect(await transactionsIn(at.namespace)).toEqual([]);
});

it("keeps what its phases have changed when all are done, and leaves no Transaction and no snapshot", async () => {
  const at = await recipe();
  const { status } = await at.over("run");
  expect(status.error).toBeUndefined();
  expect(status).toMatchObject({
    state: "complete",
    actions: [
      { phases: [{ output: { name: "made" } }, { output: { name: "edited" } }, { output: { name: "dropped" } }] },
    ],
  });
  expect(await contents(at.namespace)).toEqual({
    made: {},
    edited: { value: "new" },
    dropped: "absent",
    deferred: {},
  });
  await expect.poll(() => at.names(TRANSACTION.apiVersion, TRANSACTION.kind)).toEqual([]);
  const left = await at.names("v1", "ConfigMap");
  expect(left.filter((name) => /rollback|journal/u.test(name))).toEqual([]);
});
