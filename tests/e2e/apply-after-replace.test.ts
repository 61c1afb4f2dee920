import { expect, it } from "vitest";
import { applying, replacing } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

it("removes with an Apply what was applied, was then replaced as apply --replace does it, and is left out now", async () => {
  const place = await workspace();
  await place.janus();
  const config = { a: "1", old: "1" };
  await place.run([applying(configMap("app", config))], { name: "first" });
  await place.run([replacing(configMap("app", config))], { name: "second" });
  const { status } = await place.run([applying(configMap("app", { a: "2" }))], { name: "third" });
  expect(status.phase).toBe("Committed");
  expect((await place.read(configMap("app")))["data"]).toEqual({ a: "2" });
});
