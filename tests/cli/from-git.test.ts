import { expect, it } from "vitest";
import { marker } from "../../packages/git-journal/src/core/ownership.ts";
import { configMap, within } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import { janus } from "./command-line.ts";
import { FOLDER, journalRepository, texts } from "./journal-repository.ts";

const bob = ["--as", "bob", "--as-group", "system:masters"];

it("takes a bad change back as a Draft that another user approves: then all is as it was, and there is nothing to do", async () => {
  const { namespace, create, patch, remove, txn, janus: controller } = await workspace();
  const all = ["edited", "deleted", "made", "other"].map((name) => within(namespace, configMap(name)));
  const [edited, deleted, made] = all.map(({ metadata }) => configMap(metadata.name));
  if (edited === undefined || deleted === undefined || made === undefined) throw new Error("a name is missing");
  await create(
    configMap("edited", { version: "1", kept: "yes" }),
    configMap("deleted", { a: "1" }),
    configMap("other"),
  );
  const repository = journalRepository();
  await repository.record(...all);
  const before = await texts(all);
  const owner = marker({ clusterUid: "another", destination: "shop/prod" });
  repository.commit({ [`${FOLDER}/.configbutler/owner.yaml`]: owner, ".configbutler/owner.yaml": owner });

  await patch({ ...edited, data: { version: "2", added: "x" } });
  await remove(deleted);
  await create(configMap("made", { a: "1" }));
  const bad = await repository.record(...all);
  await patch(configMap("other", { changed: "later" }));
  const later = await repository.record(...all);
  await controller();

  const as = ["-n", namespace, "--repo", repository.directory, "--service-account", "deployer"];
  const drafted = await janus("plan", "--revert", bad, ...as, "--as-draft", "txn");
  expect(drafted).toMatchObject({ code: 1 });
  expect(drafted.stderr.match(/^Warning: .*/gmu)).toEqual([
    expect.stringMatching(
      /^Warning: clusters\/prod is the mirror of another cluster \(uid another, and this one has /u,
    ),
  ]);
  expect(drafted.stdout).toContain(
    ` 1  create     ConfigMap ${namespace}/deleted\n 2  change     ConfigMap ${namespace}/edited\n 3  delete     ConfigMap ${namespace}/made\n`,
  );
  expect(await txn()).toMatchObject({
    metadata: {
      annotations: {
        "janus.io/from-git": `revert ${bad}`,
        "janus.io/from-cluster": "another",
        "backup.janus.io/requested-by": "admin",
      },
    },
    spec: { lifecycle: "Draft", changes: [{ type: "Create" }, { type: "Update" }, { type: "Delete" }] },
  });
  expect(await texts(all)).not.toEqual(before);

  expect(await janus("propose", "txn", "-n", namespace)).toMatchObject({ code: 0 });
  expect(await janus("approve", "txn", "-n", namespace, "--yes", "--wait", ...bob)).toMatchObject({ code: 0 });
  expect((await texts(all)).slice(0, 3)).toEqual(before.slice(0, 3));

  expect(await janus("plan", "--revert", bad, ...as)).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringContaining("there is nothing to change") as string,
  });
  // Exactly the files of that commit: what was changed later is as it was left.
  expect(repository.git("diff", "--name-only", `${later}~1`, later)).toContain("other.yaml");
  expect((await texts(all))[3]).toContain("changed: later");
});
