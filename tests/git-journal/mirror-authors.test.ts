// Who changed what is the author of the commit: by the real webhook, the real watch and real git.
import { configMaps } from "@janus/types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attribution } from "../../packages/git-journal/src/shell/attribution.ts";
import { must } from "../load/world.ts";
import { configMap, configuration, controllerOf, place } from "./mirror-world.ts";
import { attributedWorld, type WebhookWorld } from "./webhook-world.ts";

const authors = attribution();
let world: WebhookWorld;

beforeAll(async () => {
  world = await attributedWorld(authors);
});
afterAll(() => world.end());

it("each change is a commit of its author, also several of one object, and a deletion", async () => {
  const { namespace } = world;
  const { url, log, have, create } = await place({ namespace });
  const [alice, bob] = await Promise.all([world.as("alice@example.com"), world.as("bob")]);
  await create(...configuration(url), configMap("before"));
  await controllerOf(namespace, {
    authors,
    flags: {
      settings: {
        selection: { watchAll: false, excludes: [], secrets: true },
        limits: { maxFiles: 200, maxBytes: 1_000_000, maxWait: 2_000 },
      },
    },
  });
  const fileOf = (name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;
  const others = (await world.admin.send({ verb: "list", resource: configMaps, namespace })) as {
    right?: { items?: readonly { metadata: { name: string } }[] };
  };
  const there = (others.right?.items ?? [])
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== "kube-root-ca.crt");
  await have(there.map(fileOf));
  const at = { resource: configMaps, namespace };
  must(await alice.send({ verb: "create", ...at, body: configMap("one", { v: "1" }) }));
  must(await bob.send({ verb: "mergePatch", ...at, name: "one", body: { data: { v: "2" } } }));
  must(await alice.send({ verb: "delete", ...at, name: "before" }));
  await have([...there.filter((name) => name !== "before"), "one"].map(fileOf));
  const commits = log("%an <%ae> %s").filter((line) => !line.startsWith("GitOps"));
  expect(commits).toEqual([
    `bob <bob@users.noreply.invalid> [UPDATE] core/v1/configmaps/${namespace}/one by user/bob`,
    "alice@example.com <alice@example.com> Update 2 objects by user/alice@example.com",
  ]);
});
