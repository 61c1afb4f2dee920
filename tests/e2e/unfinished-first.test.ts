// Unfinished Transactions do not wait at the start until all finished ones are listed.
import { expect, it } from "vitest";
import { creating } from "../fixtures/changes.ts";
import { gate } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

it("executes what is not finished while those that are are still being listed", async () => {
  const place = await workspace();
  const before = await place.janus();
  await place.run([creating(configMap("a"))], { name: "finished" });
  await before.stop();
  await place.submit([creating(configMap("b"))]);
  const all = gate(
    ({ verb, purpose, ...rest }) => verb === "list" && purpose === "reflect" && !("fieldSelector" in rest),
  );
  const { metrics, log } = await place.janus(all.hook);
  await all.reached;
  const { status } = await place.over();
  expect(status?.phase).toBe("Committed");
  // Counts are complete, or are not shown.
  expect(await metrics()).not.toContain("janus_transactions_active{");
  all.open();
  await expect.poll(metrics).toContain("janus_transactions_active{");
  expect(log.filter((line) => /"level":"(warn|error)"/u.test(line))).toEqual([]);
});
