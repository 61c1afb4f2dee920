// What is live gets into the branch and stays the same there: by a real API server and a real git server.
import { describe, expect, it } from "vitest";
import { configMap, configuration, controllerOf, place } from "./mirror-world.ts";

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
});
