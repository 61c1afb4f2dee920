// What somebody configures for a repository that does not let him in changes nothing for those whom it does.
import { expect, it } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { configMap, configuration, controllerOf, manifest, place } from "./mirror-world.ts";

const PASSWORD = "correct-horse";
const authorization = `Basic ${Buffer.from(`alice:${PASSWORD}`).toString("base64")}`;
const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cred" },
  stringData: { username: "alice", password: PASSWORD },
};

/** The configuration, with credentials. */
const admitted = (url: string): readonly Manifest[] => [
  secret,
  ...configuration(url).map((one) =>
    one.kind === "GitRepoConfig"
      ? { ...one, spec: { repoUrl: url, allowedBranches: ["main"], secretRef: { name: "cred" } } }
      : one,
  ),
];

const folder = (name: string, baseFolder: string): Manifest =>
  manifest("GitDestination", name, { repoRef: { name: "repo" }, branch: "main", baseFolder });

it("neither an older destination with the same folder, nor one within it, stops who is let in", async () => {
  const evil = await freshNamespace();
  const { url, namespace, have, create, remove, ready } = await place({ authorization });
  const theirs = [
    manifest("GitRepoConfig", "repo", { repoUrl: url, allowedBranches: ["main"] }),
    folder("same", "prod"),
    folder("within", "prod/core"),
    ...["same", "within"].map((name) =>
      manifest("WatchRule", name, { destinationRef: { name }, rules: [{ resources: ["configmaps"] }] }),
    ),
  ];
  for (const one of theirs) await administrator.create(within(evil, one));
  await create(...admitted(url), configMap("a"), configMap("b"));
  await controllerOf(namespace, { flags: { watchNamespaces: [namespace, evil] } });
  const path = (name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;
  await have([path("a"), path("b")]);
  await remove(configMap("b"));
  await have([path("a")]);
  await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "True" });
  const blocked = within(evil, folder("same", "prod"));
  await expect
    .poll(async () => JSON.stringify((await administrator.read(blocked))?.["status"]))
    .toContain(`GitDestination ${namespace}/prod, which its server lets in, has the same folder`);
});

it("destinations within each other, also in a folder called core, each have their files, whatever an older one claims that writes nothing", async () => {
  const evil = await freshNamespace();
  const { url, namespace, files, have, create } = await place();
  // It selects nothing, and so shows nothing.
  const silent = within(evil, folder("silent", "prod"));
  await administrator.create(
    within(evil, manifest("GitRepoConfig", "repo", { repoUrl: url, allowedBranches: ["main"] })),
  );
  await administrator.create(silent);
  await create(
    ...configuration(url),
    folder("core", "prod/core"),
    manifest("WatchRule", "core", { destinationRef: { name: "core" }, rules: [{ resources: ["configmaps"] }] }),
    configMap("a"),
  );
  await controllerOf(namespace, { flags: { watchNamespaces: [namespace, evil] } });
  const paths = (...names: readonly string[]): readonly string[] =>
    names.flatMap((name) => ["prod", "prod/core"].map((at) => `${at}/core/v1/configmaps/${namespace}/${name}.yaml`));
  await have(paths("a"));
  await create(configMap("b"));
  await have(paths("a", "b"));
  await create(configMap("c"));
  await have(paths("a", "b", "c"));
  expect(Object.keys(files()).filter((at) => at.endsWith("owner.yaml"))).toHaveLength(2);
  await expect
    .poll(async () => JSON.stringify((await administrator.read(silent))?.["status"]))
    .toContain(`GitDestination ${namespace}/prod, which has its marker there, has the same folder`);
});
