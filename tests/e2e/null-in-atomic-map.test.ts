import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { patching } from "../fixtures/changes.ts";
import { workspace } from "../fixtures/workspace.ts";

const web = (selector: object, more: object = {}): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: { selector, ...more },
});

// Today, all of the selector goes, and the Transaction is Committed: a Service without endpoints.
it("removes, or refuses to remove, in a Patch one key of a map that is replaced as a whole, but no other", async () => {
  const place = await workspace();
  await place.apply(web({ a: "1", b: "2" }, { ports: [{ port: 80 }] }));
  await place.janus();
  const { status } = await place.run([patching(web({ a: null }))]);
  const wanted = status.phase === "Committed" ? { b: "2" } : { a: "1", b: "2" };
  expect((await place.read(web({})))["spec"]).toMatchObject({ selector: wanted });
});
