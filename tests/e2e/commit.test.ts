import { expect, it } from "vitest";
import { creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

it("makes changes of all four types", async () => {
  const { create, read, exists, run, janus } = await workspace();
  await create(
    configMap("updated", { a: "1", b: "1" }),
    configMap("patched", { a: "1", b: "1" }),
    configMap("deleted"),
  );
  await janus();
  const { status } = await run([
    creating(configMap("created", { a: "1" })),
    updating(configMap("updated", { a: "2" })),
    patching(configMap("patched", { a: "2" })),
    deleting(configMap("deleted")),
  ]);
  expect(status).toMatchObject({ phase: "Committed", progress: "4/4" });
  expect((await read(configMap("created")))["data"]).toEqual({ a: "1" });
  expect((await read(configMap("updated")))["data"]).toEqual({ a: "2" });
  expect((await read(configMap("patched")))["data"]).toEqual({ a: "2", b: "1" });
  expect(await exists(configMap("deleted"))).toBe(false);
});
