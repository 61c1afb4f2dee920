import { expect, it } from "vitest";
import { deleting } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { refusing } from "../fixtures/refusing.ts";
import { workspace } from "../fixtures/workspace.ts";

it("finds what goes with a deletion also where its kind could not be listed at first", async () => {
  const { create, janus, run } = await workspace();
  const [owner] = await create(configMap("owner"));
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner?.metadata.uid };
  const child = configMap("child");
  await create({ ...child, metadata: { ...child.metadata, ownerReferences: [reference] } });
  const { hook, refused } = refusing(
    (request) =>
      request.verb === "list" && request.purpose === "find-owned" && request.resource.plural === "configmaps",
    1000,
  );
  await janus(hook);
  const { status } = await run([deleting(configMap("owner"))]);
  expect(refused()).toBeGreaterThan(0);
  expect(status).toMatchObject({ phase: "Committed", items: [{ dependents: "ConfigMap child" }] });
});
