// Users are told what became of their objects: by conditions, the status of a destination, and events, of a journal that runs.
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { eventsOf } from "../fixtures/events.ts";
import { within } from "../fixtures/manifests.ts";
import { configMap, configuration, controllerOf, manifest, place } from "./mirror-world.ts";

const file = (namespace: string, name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;

it("says of each object whether it is Ready, of a destination what was pushed, and why a rule is not", async () => {
  const { url, namespace, git, have, create, ready } = await place();
  const { registry } = await controllerOf(namespace);
  await create(
    ...configuration(url, ["configmaps", "widgets"]),
    configMap("a"),
    manifest("WatchRule", "lost", { destinationRef: { name: "none" }, rules: [{ resources: ["configmaps"] }] }),
  );
  await have([file(namespace, "a")]);
  for (const [kind, name, reason] of [
    ["GitRepoConfig", "repo", "BranchFound"],
    ["GitDestination", "prod", "Ready"],
    ["WatchRule", "all", "Ready"],
  ] as const)
    await expect.poll(() => ready(kind, name)).toMatchObject({ status: "True", reason });
  expect((await ready("WatchRule", "all"))?.message).toContain("not written: widgets: not served");
  expect(await ready("WatchRule", "lost")).toMatchObject({
    status: "False",
    reason: "GitDestinationNotFound",
    message: `there is no GitDestination ${namespace}/none: create it`,
  });
  const destination = within(namespace, manifest("GitDestination", "prod", {}));
  await expect
    .poll(() => administrator.read(destination))
    .toMatchObject({ status: { lastCommit: git(["rev-parse", "main"]), objects: 1, pending: 0 } });
  await expect.poll(async () => (await eventsOf(namespace, "prod")).map(({ reason }) => reason)).toContain("Pushed");
  await expect
    .poll(async () => (await eventsOf(namespace, "lost")).map(({ type, reason }) => `${type} ${reason}`))
    .toEqual(["Warning GitDestinationNotFound"]);
  await expect.poll(async () => (await ready("GitRepoConfig", "repo"))?.message).toContain("found branch main");
  expect(await registry.metrics()).toContain(
    'janus_git_not_ready{kind="WatchRule",reason="GitDestinationNotFound",stalled="false"} 1',
  );
});
