// What the running journal does when servers, lists and kinds come and go, and that a Transaction is one commit.
import { REQUEST_ROLLBACK } from "@janus/api";
import type { JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { deleting, patching } from "../fixtures/changes.ts";
import { configMap, configuration, controllerOf, manifest, place, workDirectory } from "./mirror-world.ts";
import { commitsElsewhere } from "./server-world.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { ANNA } from "../unit/git-journal/age-identities.ts";

const path = (namespace: string, name: string, resource = "configmaps"): string =>
  `prod/core/v1/${resource}/${namespace}/${name}.yaml`;

const secret = (password: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s" },
  stringData: { password },
});

/** Selects the ConfigMaps of namespaces with the label `journaled` of this one. */
const ruleByLabel = (namespace: string) =>
  manifest("ClusterWatchRule", namespace, {
    destinationRef: { name: "prod", namespace },
    rules: [
      {
        scope: "Namespaced",
        resources: ["configmaps"],
        namespaceSelector: { matchLabels: { journaled: namespace } },
      },
    ],
  });

describe("a Transaction", () => {
  it("is one commit, with what is known of it, and nothing of it is committed before its end", async () => {
    const txns = await workspace();
    const { url, namespace, log, have, create, patch } = await place({ namespace: txns.namespace });
    await create(...configuration(url), configMap("a"), configMap("b"), configMap("c"));
    await controllerOf(namespace);
    await have([path(namespace, "a"), path(namespace, "b"), path(namespace, "c")]);
    await txns.submit([
      patching(configMap("a", { a: "2" })),
      { ...patching(configMap("c", { a: "2" })), waitFor: ["jsonpath={.data.go}=yes"], waitTimeout: "60s" },
      deleting(configMap("b")),
    ]);
    await txns.janus();
    await expect.poll(async () => (await txns.read(configMap("c")))["data"]).toEqual({ a: "2" });
    await create(configMap("d"));
    await have(["a", "b", "c", "d"].map((name) => path(namespace, name)));
    await patch(configMap("c", { go: "yes" }));
    const { metadata } = await txns.over();
    await have(["a", "c", "d"].map((name) => path(namespace, name)));
    const [subject = ""] = log("%s").filter((line) => line.startsWith("Transaction"));
    expect(subject).toBe(`Transaction ${namespace}/txn: Committed, 3 changes`);
    expect(log("%s").filter((line) => line.startsWith("Transaction"))).toHaveLength(1);
    const trailers = log("%s%n%(trailers)").join("\n");
    expect(trailers).toContain(
      `Transaction: ${namespace}/txn\nTransaction-UID: ${metadata.uid}\nTransaction-Phase: Committed\n`,
    );
    expect(trailers).not.toContain("Transaction-Incomplete");
  });

  it("that ended while no journal was running is one commit all the same", async () => {
    const txns = await workspace();
    const { url, namespace, log, have, create } = await place({ namespace: txns.namespace });
    await create(...configuration(url), configMap("a"), configMap("b"), configMap("c"));
    const directory = workDirectory();
    const first = await controllerOf(namespace, { directory });
    await have([path(namespace, "a"), path(namespace, "b"), path(namespace, "c")]);
    await first.stop();
    // managedFields has seconds: of two writes in one of them nobody can tell which is the later one.
    const created = Date.now();
    await expect.poll(() => Date.now(), { interval: 50 }).toBeGreaterThan(created + 1000);
    await txns.janus();
    await txns.run([patching(configMap("a", { a: "2" })), patching(configMap("c", { a: "2" }))]);
    await create(configMap("d"));
    await controllerOf(namespace, { directory });
    await have(["a", "b", "c", "d"].map((name) => path(namespace, name)));
    expect(log("%s").toSorted()).toEqual([
      "Create 3 objects",
      `Transaction ${namespace}/txn: Committed, 2 changes`,
      `[CREATE] core/v1/configmaps/${namespace}/d`,
    ]);
  });

  it("that is rolled back after its commit is a second one", async () => {
    const txns = await workspace();
    const { url, namespace, files, log, have, create } = await place({ namespace: txns.namespace });
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    await txns.janus();
    await txns.submit([patching(configMap("a", { a: "2" }))], { rollbackWindow: "10m" });
    await expect.poll(() => files()[path(namespace, "a")]).toContain('a: "2"');
    await txns.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "" } } });
    await expect.poll(() => files()[path(namespace, "a")]).toContain('a: "1"');
    expect(log("%s").slice(0, 2)).toEqual([
      `Transaction ${namespace}/txn: RolledBack, 1 change`,
      `Transaction ${namespace}/txn: Committed, 1 change`,
    ]);
  });

  it("that was rolled back, so that nothing differs, is no commit", async () => {
    const txns = await workspace();
    const { url, namespace, log, have, create } = await place({ namespace: txns.namespace });
    await create(...configuration(url), configMap("a"), configMap("c"));
    await controllerOf(namespace);
    await have([path(namespace, "a"), path(namespace, "c")]);
    await txns.janus();
    const { status } = await txns.run([
      patching(configMap("a", { a: "2" })),
      { ...patching(configMap("c", { a: "2" })), waitFor: ["jsonpath={.data.go}=yes"], waitTimeout: "1s" },
    ]);
    expect(status.phase).toBe("RolledBack");
    await create(configMap("d"));
    await have(["a", "c", "d"].map((name) => path(namespace, name)));
    expect(log("%s")).toEqual([`[CREATE] core/v1/configmaps/${namespace}/d`, "Create 2 objects"]);
  });

  it("that was rolled back is no commit either where another one waits for the same object", async () => {
    const txns = await workspace();
    const { url, namespace, files, log, have, create } = await place({ namespace: txns.namespace });
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    await txns.janus();
    await txns.run([patching(configMap("a", { a: "0" }))], { name: "before" });
    await expect.poll(() => files()[path(namespace, "a")]).toContain('a: "0"');
    await txns.submit([
      { ...patching(configMap("a", { a: "2" })), waitFor: ["jsonpath={.data.go}=yes"], waitTimeout: "2s" },
    ]);
    await expect.poll(async () => (await txns.read(configMap("a")))["data"]).toEqual({ a: "2" });
    await txns.submit([patching(configMap("a", { a: "3" }))], { name: "next" });
    expect((await txns.over()).status.phase).toBe("RolledBack");
    await txns.over("next");
    await expect.poll(() => files()[path(namespace, "a")]).toContain('a: "3"');
    expect(log("%s")).toEqual([
      `Transaction ${namespace}/next: Committed, 1 change`,
      `Transaction ${namespace}/before: Committed, 1 change`,
      `[CREATE] core/v1/configmaps/${namespace}/a`,
    ]);
  });
});

describe("the journal", () => {
  it.each(["sha1", "sha256"] as const)(
    "goes on after a restart, without a commit where nothing differs, and with what has changed meanwhile, in a repository of %s",
    async (objectFormat) => {
      const { url, namespace, git, have, log, create, remove } = await place({ objectFormat });
      const directory = workDirectory();
      await create(...configuration(url), configMap("a"), configMap("b"));
      const first = await controllerOf(namespace, { directory });
      await have([path(namespace, "a"), path(namespace, "b")]);
      await first.stop();
      await remove(configMap("b"));
      await create(configMap("c"));
      await controllerOf(namespace, { directory });
      await have([path(namespace, "a"), path(namespace, "c")]);
      expect(log("%s")).toEqual(["Update 2 objects", "Create 2 objects"]);
      expect(git(["rev-parse", "main"])).toMatch(objectFormat === "sha1" ? /^[0-9a-f]{40}$/u : /^[0-9a-f]{64}$/u);
    },
  );

  it("puts foreign edits right at its next push, and is never in the way of files of others", async () => {
    const { url, namespace, git, files, have, create } = await place();
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    commitsElsewhere(git, "README.md", "x");
    commitsElsewhere(git, path(namespace, "a"), "y");
    commitsElsewhere(
      git,
      path(namespace, "old"),
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: old\n  namespace: ${namespace}\n`,
    );
    commitsElsewhere(
      git,
      path(namespace, "new"),
      `apiVersion: v1\nkind: Service\nmetadata:\n  name: else\n  namespace: ${namespace}\n`,
    );
    await create(configMap("b"));
    await have(["README.md", path(namespace, "a"), path(namespace, "b")]);
    expect(files()[path(namespace, "a")]).toContain('a: "1"');
    expect(files()["README.md"]).toBe("x");
  });

  it("deletes nothing of a resource whose list fails, and says so; the others go on", async () => {
    const { url, namespace, have, create, ready } = await place();
    await create(...configuration(url, ["configmaps", "serviceaccounts"]), configMap("a"));
    const first = await controllerOf(namespace);
    const account = path(namespace, "default", "serviceaccounts");
    await have([path(namespace, "a"), account]);
    await first.stop();
    await controllerOf(namespace, {
      hooks: [
        (request, next) =>
          request.verb === "list" && request.resource.plural === "configmaps"
            ? Promise.resolve({
                _tag: "Left",
                left: { type: "refused", code: 403, reason: "Forbidden", message: "no", causes: [] },
              })
            : next(request),
      ],
    });
    await create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "new" } }, configMap("b"));
    await have([path(namespace, "a"), account, path(namespace, "new", "serviceaccounts")]);
    await expect
      .poll(() => ready("GitDestination", "prod"))
      .toMatchObject({
        reason: "ListIncomplete",
        message: expect.stringMatching(/^configmaps: 403 no: give the controller/u),
      });
  });

  it("is written by one of two controllers at a time, and by the other once that has ended", async () => {
    const { url, namespace, have, log, create } = await place();
    await create(...configuration(url), configMap("a"));
    const first = await controllerOf(namespace);
    await have([path(namespace, "a")]);
    await controllerOf(namespace);
    await create(configMap("b"));
    await have([path(namespace, "a"), path(namespace, "b")]);
    await first.stop();
    await create(configMap("c"));
    await have([path(namespace, "a"), path(namespace, "b"), path(namespace, "c")]);
    expect(log("%s")).toHaveLength(3);
  });

  it("says of a Lease that it loses while it writes, and not that the server has failed", async () => {
    const server = Promise.withResolvers<void>();
    let isSlow = false;
    const { url, namespace, have, create, ready } = await place({
      onPhase: ({ isPush }, phase) => (isSlow && isPush && phase === "asked" ? server.promise : undefined),
    });
    onTestFinished(() => server.resolve());
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    isSlow = true;
    await create(configMap("b"));
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    const [own] = (await administrator.list(lease, namespace)).filter(({ metadata }) =>
      metadata.name?.startsWith("git-"),
    );
    const { name = "" } = own?.metadata ?? {};
    await administrator.patch({ ...lease, metadata: { name, namespace }, spec: { holderIdentity: "another" } });
    await expect
      .poll(() => ready("GitDestination", "prod"))
      .toMatchObject({ status: "False", reason: "LeaseHeld", message: expect.stringContaining(name) as string });
    isSlow = false;
    server.resolve();
    await have([path(namespace, "a"), path(namespace, "b")]);
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "True" });
    const events = await administrator.list({ apiVersion: "v1", kind: "Event" }, namespace);
    expect(events.map(({ reason }) => reason)).not.toContain("ConnectionFailed");
  });

  it("removes the files of what a rule does not select any more, but nothing without a rule", async () => {
    const { url, namespace, have, log, create, patch, remove, ready } = await place();
    await create(...configuration(url, ["configmaps", "serviceaccounts"]), configMap("a"));
    await controllerOf(namespace);
    const account = path(namespace, "default", "serviceaccounts");
    await have([path(namespace, "a"), account]);
    await patch(manifest("WatchRule", "all", { rules: [{ resources: ["configmaps"] }] }));
    await have([path(namespace, "a")]);
    await remove(manifest("WatchRule", "all", {}));
    await create(configMap("b"));
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "False", reason: "NoRules" });
    await create(
      manifest("WatchRule", "again", { destinationRef: { name: "prod" }, rules: [{ resources: ["serviceaccounts"] }] }),
    );
    await have([path(namespace, "a"), account]);
    const subject = `core/v1/serviceaccounts/${namespace}/default`;
    expect(log("%s")).toEqual([`[CREATE] ${subject}`, `[DELETE] ${subject}`, "Create 2 objects"]);
  });

  it("compares anew when others push before it, and pushes on top of them", async () => {
    const seen = { pushes: 0 };
    const { url, namespace, git, files, have, log, create } = await place({
      onPhase: ({ isPush }, phase) => {
        if (isPush && phase === "asked" && ++seen.pushes === 2) commitsElsewhere(git, "README.md", "x");
      },
    });
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    await create(configMap("b"));
    await have(["README.md", path(namespace, "a"), path(namespace, "b")]);
    expect(files()["README.md"]).toBe("x");
    expect(log("%s")).toEqual([
      `[CREATE] core/v1/configmaps/${namespace}/b`,
      "else",
      `[CREATE] core/v1/configmaps/${namespace}/a`,
    ]);
  });

  it("writes all that has changed while the server was down, once it is back", async () => {
    const server = { isDown: false };
    const { url, namespace, files, have, create, patch, remove, ready } = await place({
      fault: () => (server.isDown ? { answers: 503 } : undefined),
    });
    await create(...configuration(url), configMap("a"), configMap("b"));
    await controllerOf(namespace);
    await have([path(namespace, "a"), path(namespace, "b")]);
    server.isDown = true;
    await patch(configMap("a", { a: "2" }));
    await remove(configMap("b"));
    await create(configMap("c"));
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "False" });
    await patch(configMap("a", { a: "3" }));
    server.isDown = false;
    await have([path(namespace, "a"), path(namespace, "c")]);
    await expect.poll(() => files()[path(namespace, "a")]).toContain('a: "3"');
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "True" });
  });

  it("writes what other namespaces want while servers of one never answer, be they as many as may be written at a time", async () => {
    const silent = await place({ fault: () => "silence" });
    for (const name of ["one", "two", "three"])
      await silent.create(
        ...configuration(silent.url.replace("live.git", `${name}.git`)).map(
          (one): Manifest => ({
            ...one,
            metadata: { name },
            spec: JSON.parse(JSON.stringify(one["spec"]).replaceAll(/"name":"(?:repo|prod)"/gu, `"name":"${name}"`)),
          }),
        ),
      );
    const { url, namespace, have, create } = await place();
    await controllerOf(silent.namespace, {
      flags: { watchNamespaces: [silent.namespace, namespace], workers: { global: 2, perRepository: 2 } },
    });
    // Two by the checks of repositories, which are shared likewise, and one by a worker.
    await expect.poll(() => silent.asked()).toBeGreaterThan(2);
    await create(...configuration(url), configMap("a"));
    await have([path(namespace, "a")]);
  });

  it("loses nothing, and pushes nothing twice, when the reply to a push is lost", async () => {
    const network = { isBad: false };
    const { url, namespace, have, log, create } = await place({
      fault: ({ isPush }) => (isPush && network.isBad ? "loses reply" : undefined),
    });
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    network.isBad = true;
    await create(configMap("b"));
    await have([path(namespace, "a"), path(namespace, "b")]);
    network.isBad = false;
    await create(configMap("c"));
    await have(["a", "b", "c"].map((name) => path(namespace, name)));
    expect(log("%s")).toHaveLength(3);
  });

  it("deletes nothing after a list that fails half-way, until one is complete", async () => {
    const list = { isBroken: true, pages: 0 };
    const { url, namespace, git, have, create, ready } = await place();
    commitsElsewhere(
      git,
      path(namespace, "old"),
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: old\n  namespace: ${namespace}\n`,
    );
    await create(...configuration(url), configMap("a"), configMap("b"));
    await controllerOf(namespace, {
      hooks: [
        (request, next) => {
          if (request.verb !== "list" || request.resource.plural !== "configmaps") return next(request);
          if (request.continue === undefined) return next({ ...request, limit: 1 });
          list.pages += 1;
          return list.isBroken
            ? Promise.resolve({
                _tag: "Left",
                left: { type: "refused", code: 500, reason: "InternalError", message: "half", causes: [] },
              })
            : next(request);
        },
      ],
    });
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ reason: "ListIncomplete" });
    expect(list.pages).toBeGreaterThan(0);
    await have([path(namespace, "old")]);
    list.isBroken = false;
    await have([path(namespace, "a"), path(namespace, "b")]);
  });

  it("writes objects of a kind that is installed later, and removes them with it", async () => {
    const { url, namespace, have, create } = await place();
    const plural = `things${namespace.replaceAll(/[^a-z0-9]/gu, "")}`.slice(0, 60);
    const group = "example.com";
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural, kind: plural, listKind: `${plural}List`, singular: plural },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    };
    await create(...configuration(url, ["configmaps", plural]), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    await administrator.create(definition);
    const thing = { apiVersion: `${group}/v1`, kind: plural, metadata: { name: "t" }, value: 1 };
    await expect
      .poll(() =>
        create(thing).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await have([path(namespace, "a"), `prod/${group}/v1/${plural}/${namespace}/t.yaml`]);
    await administrator.remove(definition);
    await have([path(namespace, "a")]);
  });

  it("writes to the root of a branch for a rule that names the repository directly", async () => {
    const { url, namespace, files, have, create } = await place();
    await create(
      manifest("GitRepoConfig", "repo", { repoUrl: url, branch: "main" }),
      manifest("WatchRule", "all", { gitRepoConfigRef: { name: "repo" }, rules: [{ resources: ["configmaps"] }] }),
      configMap("a"),
    );
    await controllerOf(namespace);
    await have([`core/v1/configmaps/${namespace}/a.yaml`]);
    expect(files()[".configbutler/owner.yaml"]).toContain(`destination: GitRepoConfig ${namespace}/repo`);
  });

  it("leaves the old place of a destination that is moved, and knows nothing of it any more", async () => {
    const { url, namespace, files, have, create, patch, remove } = await place();
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await have([path(namespace, "a")]);
    await patch(manifest("GitDestination", "prod", { baseFolder: "moved" }));
    const moved = path(namespace, "a").replace("prod/", "moved/");
    await have([path(namespace, "a"), moved]);
    await remove(configMap("a"));
    await have([path(namespace, "a")]);
    expect(Object.keys(files()).filter((at) => at.endsWith("owner.yaml"))).toEqual([
      "moved/.configbutler/owner.yaml",
      "prod/.configbutler/owner.yaml",
    ]);
  });

  it("writes nothing through a symlink, says so, and goes on when it is gone", async () => {
    const { url, namespace, git, have, create, ready } = await place();
    git(
      ["fast-import", "--quiet", "--force"],
      "commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\nM 120000 inline prod/core/v1/configmaps\ndata 4\n/etc\n",
    );
    await create(...configuration(url, ["configmaps", "serviceaccounts"]), configMap("a"));
    await controllerOf(namespace);
    const account = path(namespace, "default", "serviceaccounts");
    await have(["prod/core/v1/configmaps", account]);
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "False", reason: "PathConflict" });
    git(
      ["fast-import", "--quiet", "--force"],
      `commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\nfrom ${git(["rev-parse", "main"])}\nD prod/core/v1/configmaps\n`,
    );
    await create(configMap("b"));
    await have([path(namespace, "a"), path(namespace, "b"), account]);
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "True" });
  });

  it("writes what a namespaceSelector selects: labels that come and go are followed", async () => {
    const { url, namespace, have, create } = await place();
    const [repository, destination] = configuration(url);
    if (repository === undefined || destination === undefined) throw new Error("no configuration");
    await create(repository, destination, configMap("a"));
    const rule = ruleByLabel(namespace);
    await administrator.create(rule);
    onTestFinished(() => administrator.remove(rule));
    await controllerOf(namespace);
    await expect.poll(() => administrator.read(rule).then((object) => object?.["status"])).toBeDefined();
    const labelled = (value: string | null) =>
      administrator.patch({
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: namespace, labels: { journaled: value } },
      });
    await labelled(namespace);
    await have([path(namespace, "a")]);
    await create(configMap("b"));
    await have([path(namespace, "a"), path(namespace, "b")]);
    await labelled(null);
    await have([]);
  });

  it("does not read a branch whose folders contain each other any number of times, and says so", async () => {
    const { url, namespace, git, create, ready } = await place();
    let tree = git(["mktree"], `100644 blob ${git(["hash-object", "-w", "--stdin"], "x")}\tx\n`);
    for (let depth = 0; depth < 7; depth += 1)
      tree = git(["mktree"], Array.from({ length: 10 }, (_, n) => `040000 tree ${tree}\t${n}\n`).join(""));
    const root = git(["mktree"], `040000 tree ${tree}\tprod\n`);
    const commit = `tree ${root}\nauthor E <e@example.com> 1 +0000\ncommitter E <e@example.com> 1 +0000\n\nx\n`;
    git(["update-ref", "refs/heads/main", git(["hash-object", "-w", "-t", "commit", "--stdin"], commit)]);
    await create(...configuration(url), configMap("a"));
    await controllerOf(namespace);
    await expect
      .poll(() => ready("GitDestination", "prod"))
      .toMatchObject({ status: "False", message: expect.stringContaining("has more files than the journal reads") });
  });

  it("is not ended by an object, whatever that says: the others are written, and its own file is left", async () => {
    const { url, namespace, have, create, ready } = await place();
    await create(...configuration(url), configMap("a"), configMap("b"), configMap("nulls"));
    const first = await controllerOf(namespace);
    await have(["a", "b", "nulls"].map((name) => path(namespace, name)));
    await first.stop();
    const changes = new Map<string, object>([
      ["a", { labels: 5, annotations: "x", managedFields: [null] }],
      ["nulls", { labels: null, annotations: null, deletionTimestamp: null }],
    ]);
    await controllerOf(namespace, {
      hooks: [
        async (request, next) => {
          const answer = await next(request);
          if (request.verb !== "list" || request.resource.plural !== "configmaps" || E.isLeft(answer)) return answer;
          const { items } = answer.right as unknown as { readonly items: readonly { readonly metadata: JsonObject }[] };
          const changed = items.map((item) => {
            const { name, namespace: own } = item.metadata;
            const more = own === namespace && typeof name === "string" ? changes.get(name) : undefined;
            return more === undefined ? item : { ...item, metadata: { ...item.metadata, ...more } };
          });
          return E.right({ ...answer.right, items: changed });
        },
      ],
    });
    await create(configMap("c"));
    await have(["a", "b", "c", "nulls"].map((name) => path(namespace, name)));
    await expect
      .poll(() => ready("GitDestination", "prod"))
      .toMatchObject({
        reason: "ListIncomplete",
        message: expect.stringContaining(`ConfigMap ${namespace}/a is left`),
      });
  });

  it("follows labels of a namespace that change while its objects are being listed", async () => {
    const { url, namespace, have, create } = await place();
    const [repository, destination] = configuration(url);
    if (repository === undefined || destination === undefined) throw new Error("no configuration");
    await create(repository, destination, configMap("a"));
    const rule = ruleByLabel(namespace);
    await administrator.create(rule);
    onTestFinished(() => administrator.remove(rule));
    const half = Promise.withResolvers<void>();
    let lists = 0;
    await controllerOf(namespace, {
      hooks: [
        async (request, next) => {
          if (request.verb !== "list" || request.resource.plural !== "configmaps") return next(request);
          lists += 1;
          const { continue: page, ...all } = request;
          if (page === "half") await half.promise;
          const answer = await next({ ...all, limit: 100_000 });
          if (lists > 2 || E.isLeft(answer)) return answer;
          // All objects are on the first page, which is read with the former labels, and none on the second one.
          const { metadata } = answer.right;
          const changed = page === undefined ? { metadata: { ...metadata, continue: "half" } } : { items: [] };
          return E.right({ ...answer.right, ...changed });
        },
      ],
    });
    await expect.poll(() => lists).toBe(2);
    await administrator.patch({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, labels: { journaled: namespace } },
    });
    await expect.poll(() => lists).toBeGreaterThan(2);
    half.resolve();
    await have([path(namespace, "a")]);
  });

  it("writes Secrets encrypted for recipients, and not anew while they are the same", async () => {
    const { url, namespace, git, files, have, log, create, patch } = await place();
    const [repository, destination, rule] = configuration(url, ["secrets", "configmaps"]);
    if (repository === undefined || destination === undefined || rule === undefined)
      throw new Error("no configuration");
    const directory = workDirectory();
    const recipients = {
      ...destination,
      spec: Object.assign({}, destination["spec"], { secrets: { ageRecipients: [ANNA.recipient] } }),
    };
    await create(repository, recipients, rule, secret("correct-horse"));
    const first = await controllerOf(namespace, { directory });
    const file = path(namespace, "s", "secrets");
    await have([file]);
    expect(files()[file]).toContain("password: ENC[AES256_GCM,data:");
    expect(files()[file]).toContain(`recipient: ${ANNA.recipient}`);
    await first.stop();
    await controllerOf(namespace, { directory });
    await create(configMap("a"));
    await have([file, path(namespace, "a")]);
    expect(log("%s")).toHaveLength(2);
    const before = files()[file];
    await patch(secret("battery-staple"));
    await expect.poll(() => files()[file]).not.toBe(before);
    for (const text of ["correct-horse", "battery-staple"].flatMap((one) => [one, Buffer.from(one).toString("base64")]))
      expect(git(["log", "--all", "-S", text, "--format=%h"])).toBe("");
  });
});
