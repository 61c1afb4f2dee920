// What is live gets into the branch and stays the same there: by a real API server and a real git server.
import { describe, expect, it } from "vitest";
import { commitsElsewhere } from "./server-world.ts";
import { configMap, configuration, controllerOf, manifest, place, workDirectory } from "./mirror-world.ts";

const path = (namespace: string, name: string, resource = "configmaps"): string =>
  `prod/core/v1/${resource}/${namespace}/${name}.yaml`;

describe("the journal", () => {
  it("writes what is live, then each change, and deletes what is gone", async () => {
    const { url, namespace, files, have, log, create, patch, remove, ready } = await place();
    await create(configMap("a"), configMap("b"));
    await controllerOf(namespace);
    await create(...configuration(url));
    await have([path(namespace, "a"), path(namespace, "b")]);
    expect(files()[path(namespace, "a")]).toBe(
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: ${namespace}\ndata:\n  a: "1"`,
    );
    expect(files()["prod/.configbutler/owner.yaml"]).toContain(`destination: ${namespace}/prod`);
    expect(log()).toEqual(["GitOps Reverser: Create 2 objects"]);
    await expect.poll(() => ready("GitDestination", "prod")).toMatchObject({ status: "True", reason: "Ready" });

    await patch(configMap("a", { a: "2" }));
    await expect.poll(() => files()[path(namespace, "a")]).toContain('a: "2"');
    await create(configMap("c"));
    await have([path(namespace, "a"), path(namespace, "b"), path(namespace, "c")]);
    await remove(configMap("b"));
    await have([path(namespace, "a"), path(namespace, "c")]);
    expect(log("%s")).toEqual([
      `[DELETE] core/v1/configmaps/${namespace}/b`,
      `[CREATE] core/v1/configmaps/${namespace}/c`,
      `[UPDATE] core/v1/configmaps/${namespace}/a`,
      "Create 2 objects",
    ]);
  });

  it("goes on after a restart, without a commit where nothing differs, and with what has changed meanwhile", async () => {
    const { url, namespace, have, log, create, remove } = await place();
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
  });

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
    await create(configMap("b"));
    await have(["README.md", path(namespace, "a"), path(namespace, "b")]);
    expect(files()[path(namespace, "a")]).toContain('a: "1"');
    expect(files()["README.md"]).toBe("x");
  });

  it("never writes the data of a Secret in plain", async () => {
    const { url, namespace, git, files, have, create } = await place();
    await create(...configuration(url, ["secrets"]), {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      stringData: { password: "correct-horse" },
    });
    await controllerOf(namespace);
    await have([path(namespace, "s", "secrets")]);
    expect(files()[path(namespace, "s", "secrets")]).toContain("configbutler.ai/content-digest");
    for (const text of ["correct-horse", Buffer.from("correct-horse").toString("base64")])
      expect(git(["log", "--all", "-S", text, "--format=%h"])).toBe("");
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
      .toMatchObject({ status: "False", reason: "ListIncomplete", message: "configmaps: 403 no" });
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

  it("removes the files of what a rule does not select any more, but nothing without a rule", async () => {
    const { url, namespace, have, log, create, patch, remove } = await place();
    await create(...configuration(url, ["configmaps", "serviceaccounts"]), configMap("a"));
    await controllerOf(namespace);
    const account = path(namespace, "default", "serviceaccounts");
    await have([path(namespace, "a"), account]);
    await patch(manifest("WatchRule", "all", { rules: [{ resources: ["configmaps"] }] }));
    await have([path(namespace, "a")]);
    await remove(manifest("WatchRule", "all", {}));
    await create(configMap("b"));
    await create(
      manifest("WatchRule", "again", { destinationRef: { name: "prod" }, rules: [{ resources: ["serviceaccounts"] }] }),
    );
    await have([path(namespace, "a"), account]);
    const subject = `core/v1/serviceaccounts/${namespace}/default`;
    expect(log("%s")).toEqual([`[CREATE] ${subject}`, `[DELETE] ${subject}`, "Create 2 objects"]);
  });
});
