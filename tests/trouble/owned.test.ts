// Finds the objects that a deleted target owns, also where their kind cannot be listed at first.
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

const forbidden = (message: string) => () => {
  const error = { type: "refused", code: 403, reason: message.startsWith("<") ? "" : "Forbidden", message } as const;
  const { hook, refused } = refusing(listsConfigMaps, 1000, { ...error, causes: [] });
  return { hook, met: refused };
};

const deployer = "system:serviceaccount:x:deployer";

it.each([
  ["its server is down", down],
  [
    "the API server does not know its roles yet",
    forbidden(`configmaps is forbidden: User "${deployer}" cannot list resource "configmaps" in API group ""`),
  ],
  [
    "the controller may not act as the ServiceAccount",
    forbidden(`serviceaccounts "deployer" is forbidden: User "x" cannot impersonate resource "serviceaccounts"`),
  ],
  ["a proxy forbids it", forbidden("<html><h1>403 Forbidden</h1></html>")],
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

it("says of which kinds it is unknown what goes with a deletion, since the ServiceAccount may not list them", async () => {
  const { create, janus, run } = await workspace();
  await create(configMap("a"));
  await janus();
  const { status } = await run([deleting(configMap("a"))]);
  expect(status.phase).toBe("Committed");
  expect(status.conditions.find(({ type }) => type === "Prepared")?.message).toMatch(
    /it is unknown which objects .* kinds that the ServiceAccount may not list: .*podtemplates/,
  );
});
