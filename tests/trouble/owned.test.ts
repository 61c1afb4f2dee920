import type { Request } from "@janus/kube";
import { expect, it } from "vitest";
import { deleting } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { page } from "../fixtures/page.ts";
import { refusing } from "../fixtures/refusing.ts";
import { workspace } from "../fixtures/workspace.ts";

const listsConfigMaps = (request: Request): boolean =>
  request.verb === "list" && request.purpose === "find-owned" && request.resource.plural === "configmaps";

const down = () => {
  const { hook, refused } = refusing(listsConfigMaps, 1000);
  return { hook, met: refused };
};

it.each([
  ["its server is down", down],
  ["a proxy knows nothing of it", () => page(listsConfigMaps, 1000)],
])("finds dependents also if their kind cannot be listed at first: %s", async (_, trouble) => {
  const { create, janus, run } = await workspace();
  const [owner] = await create(configMap("owner"));
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner?.metadata.uid };
  const child = configMap("child");
  await create({ ...child, metadata: { ...child.metadata, ownerReferences: [reference] } });
  const { hook, met } = trouble();
  await janus(hook);
  const { status } = await run([deleting(configMap("owner"))]);
  expect(met()).toBeGreaterThan(0);
  expect(status).toMatchObject({ phase: "Committed", items: [{ dependents: "ConfigMap child" }] });
});
