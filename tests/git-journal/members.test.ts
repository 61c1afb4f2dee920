// Replicas that share the branches: each writes its own, knows who has made the changes, and takes over those of one that is cut off.
import type { Hook } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { branchKey } from "../../packages/git-journal/src/core/journaled-branch.ts";
import { branchLeaseName, ownerOf } from "../../packages/git-journal/src/core/members.ts";
import { repositoryUrl } from "../../packages/git-journal/src/core/repository-url.ts";
import { attribution } from "../../packages/git-journal/src/shell/attribution.ts";
import { entryFeed } from "../../packages/git-journal/src/shell/entry-feed.ts";
import { followEntries } from "../../packages/git-journal/src/shell/follow-entries.ts";
import { administrator } from "../fixtures/administrator.ts";
import { must } from "../load/world.ts";
import { isExhaustive } from "../fixtures/sample.ts";
import { right } from "../unit/git-journal/right.ts";
import { configMap, controllerOf, manifest, place } from "./mirror-world.ts";
import { type WebhookWorld, webhookWorld } from "./webhook-world.ts";

const LEADER = "leader";
const OTHER = "other";
const ofLeader = attribution();
const ofOther = attribution();
let world: WebhookWorld;

beforeAll(async () => {
  world = await webhookWorld();
  const feed = entryFeed();
  world.serve({
    feed,
    record: (request) => {
      world.authors.record(request);
      const keyed = ofLeader.record(request);
      if (keyed !== undefined) feed.tell(keyed);
    },
  });
  await world.isCalled();
});
afterAll(() => world.end());

/** Two branches of each replica. */
const sharedBranches = (url: string): ReadonlyMap<string, string> => {
  const seen = { members: new Set([LEADER, OTHER]), holders: new Map() };
  const repository = right(repositoryUrl(url));
  const names = Array.from({ length: 64 }, (_, n) => `branch-${n}`);
  const owner = (name: string): string => ownerOf(seen, branchKey(repository, name, `${world.namespace}/\n`));
  return new Map(
    [LEADER, OTHER].flatMap((one) =>
      names
        .filter((name) => owner(name) === one)
        .slice(0, 2)
        .map((name) => [name, one] as const),
    ),
  );
};

const WAIT = { interval: 50 };

// In CI the processes of process.test.ts show that a member takes over.
const isWhole = isExhaustive || process.env["CI"] === undefined;

it.runIf(isWhole)(
  "each writes its branches with the authors of all changes, and takes over those of one that is cut off",
  async () => {
    const { namespace } = world;
    const { url, git, create, ready } = await place({ namespace });
    const branches = sharedBranches(url);
    const repository = right(repositoryUrl(url));
    /** The last of each branch: a Lease is given back when there is nothing to write. */
    const held = new Map<string, string>();
    const holders = async (): Promise<ReadonlyMap<string, string>> => {
      const leases = await administrator.list({ apiVersion: "coordination.k8s.io/v1", kind: "Lease" }, namespace);
      const holder = new Map(
        leases.map(({ metadata, spec }) => [metadata.name, (spec as { holderIdentity?: string }).holderIdentity ?? ""]),
      );
      for (const name of branches.keys()) {
        const now = holder.get(branchLeaseName(branchKey(repository, name, `${world.namespace}/\n`))) ?? "";
        if (now !== "") held.set(name, now);
      }
      return held;
    };
    const commits = (): readonly string[] =>
      [...branches.keys()].flatMap((name) =>
        git(["for-each-ref", `refs/heads/${name}`]) === ""
          ? []
          : git(["log", "--format=%an %s", name])
              .split("\n")
              .map((line) => `${name} ${line}`),
      );
    const statuses = new Map<string, Set<string>>();
    let isCutOff = false;
    let heard = 0;
    const counting =
      (replica: string): Hook =>
      (request, next) => {
        if ("purpose" in request && request.purpose === "status" && "name" in request)
          statuses.set(request.name, (statuses.get(request.name) ?? new Set()).add(replica));
        return next(request);
      };
    const cutOff: Hook = (request, next) =>
      isCutOff
        ? Promise.resolve(E.left({ type: "unanswered", cause: "aborted", message: "it is cut off" } as const))
        : next(request);

    await controllerOf(namespace, {
      identity: LEADER,
      authors: ofLeader,
      flags: { shards: true },
      hooks: [counting(LEADER)],
    });
    await controllerOf(namespace, {
      identity: OTHER,
      authors: ofOther,
      flags: { shards: true },
      hooks: [counting(OTHER), cutOff],
      leads: false,
      follow: () => {
        const following = followEntries({
          api: world.admin,
          namespace,
          onEntry: (keyed) => {
            heard += 1;
            ofOther.remember(keyed);
          },
          log: () => undefined,
          configuration: world.configuration,
        });
        onTestFinished(following.stop);
        return following;
      },
    });
    await expect
      .poll(
        async () =>
          (await administrator.list({ apiVersion: "coordination.k8s.io/v1", kind: "Lease" }, namespace)).length,
      )
      .toBe(2);

    await create(
      manifest("GitRepoConfig", "repo", { repoUrl: url, allowedBranches: [...branches.keys()] }),
      ...[...branches.keys()].flatMap((branch) => [
        manifest("GitDestination", branch, { repoRef: { name: "repo" }, branch, baseFolder: "prod" }),
        manifest("WatchRule", branch, { destinationRef: { name: branch }, rules: [{ resources: ["configmaps"] }] }),
      ]),
    );
    await expect.poll(holders, WAIT).toEqual(branches);
    for (const name of branches.keys()) {
      await expect.poll(() => ready("GitDestination", name), WAIT).toMatchObject({ status: "True" });
      await expect.poll(() => ready("WatchRule", name), WAIT).toMatchObject({ status: "True" });
    }
    expect(await ready("GitRepoConfig", "repo")).toMatchObject({ status: "True" });

    let probes = 0;
    const probe = async (): Promise<number> => {
      await create(configMap(`probe-${(probes += 1)}`));
      return heard;
    };
    await expect.poll(probe, WAIT).toBeGreaterThan(0);

    statuses.clear();
    const alice = await world.as("alice");
    must(await alice.send({ verb: "create", resource: configMaps, namespace, body: configMap("one") }));
    const one = [...branches.keys()].map(
      (name) => `${name} alice [CREATE] core/v1/configmaps/${namespace}/one by user/alice`,
    );
    await expect.poll(commits, WAIT).toEqual(expect.arrayContaining(one));
    // Who writes a branch writes the status of its destination, and nobody else does.
    const told = () => new Map([...statuses].map(([name, replicas]) => [name, [...replicas].join()]));
    await expect.poll(told, WAIT).toEqual(branches);

    isCutOff = true;
    must(await alice.send({ verb: "create", resource: configMaps, namespace, body: configMap("two") }));
    const has = (name: string): boolean => git(["ls-tree", "-r", "--name-only", name]).includes("/two.yaml");
    await expect.poll(() => [...branches.keys()].filter(has), WAIT).toEqual([...branches.keys()]);
    await expect.poll(async () => [...new Set((await holders()).values())], WAIT).toEqual([LEADER]);
  },
  90_000,
);
