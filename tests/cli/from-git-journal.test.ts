import { expect, it } from "vitest";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { configuration, controllerOf, place } from "../git-journal/mirror-world.ts";
import { janus } from "./command-line.ts";

it("a commit that the journal has written is taken back, and the journal says so in the commit that follows", async () => {
  const { namespace, create, patch, remove, over, janus: controller } = await workspace();
  const journal = await place({ namespace });
  const path = (name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;
  await create(configMap("edited", { version: "1", kept: "yes" }), configMap("deleted", { a: "1" }));
  await controller();
  await controllerOf(namespace);
  for (const one of configuration(journal.url)) await create(one);
  await journal.have([path("deleted"), path("edited")]);
  const before = journal.files();
  const first = journal.git(["rev-parse", "main"]);

  await patch(configMap("edited", { version: "2", added: "x" }));
  await remove(configMap("deleted"));
  await journal.have([path("edited")]);
  await expect.poll(() => journal.files()[path("edited")]).toContain("added: x");
  const as = ["-n", namespace, "--service-account", "deployer"];
  const goBack = (name: string, ...how: readonly string[]) => janus("plan", ...how, ...as, "--as-draft", name);
  const drafted = await goBack("txn", "--from-git", first, "--destination", `${namespace}/prod`);
  expect(drafted, drafted.stderr).toMatchObject({ code: 1 });
  expect(drafted.stderr).not.toContain("Warning");
  await janus("approve", "txn", "-n", namespace, "--yes", "--as", "bob", "--as-group", "system:masters");
  expect((await over()).status.phase).toBe("Committed");
  await expect.poll(() => journal.files()).toEqual(before);
  const said = journal.git(["log", "-1", "--format=%s%n%b", "main"]);
  expect(said).toContain(`Transaction ${namespace}/txn: Committed, 2 changes\n`);
  expect(said).toContain(`\nFrom-git: ${first}\n`);

  // The Transaction is a commit like any other.
  const undone = await goBack("undo", "--revert", "HEAD", "--destination", "prod");
  expect(undone, undone.stderr).toMatchObject({ code: 1 });
  await janus("approve", "undo", "-n", namespace, "--yes", "--as", "bob", "--as-group", "system:masters");
  expect((await over("undo")).status.phase).toBe("Committed");
  await journal.have([path("edited")]);
  const last = journal.git(["log", "-1", "--format=%b", "main"]);
  expect(last).toContain(`\nReverts: ${journal.git(["rev-parse", "main~1"])}\n`);
  expect(journal.files()[path("edited")]).toContain("added: x");

  // What somebody changes afterwards is not the Transaction's, although it has set that field.
  await patch(configMap("edited", { version: "3" }));
  await expect.poll(() => journal.files()[path("edited")]).toContain('version: "3"');
  expect(journal.git(["log", "-1", "--format=%s", "main"])).toBe(`[UPDATE] core/v1/configmaps/${namespace}/edited`);
});
