// The command line end to end: a backup is run and watched, and a restore goes on from its artifacts.
import { expect, it } from "vitest";
import { janus } from "../cli/command-line.ts";
import { administrator } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { place, prepared } from "./world.ts";

const task = (name: string, command: string): object => ({
  func: "KubeTask",
  name,
  args: { image: "busybox", command: ["sh", "-c", command] },
});

const output = `echo '###Phase-output###: {"key":"id","value":"b-{{ .Options.mode }}"}'`;

it("runs a backup, waits for it, shows what it has recorded, and restores from it", async () => {
  const { create, namespace, read } = await place();
  const where = ["-n", namespace];
  await create(
    blueprint("dump", {
      backup: {
        outputArtifacts: { cloudObject: { keyValue: { id: "{{ .Phases.dump.Output.id }}" } } },
        phases: [task("dump", output)],
      },
      restore: {
        inputArtifactNames: ["cloudObject"],
        phases: [task("load", `test "{{ .ArtifactsIn.cloudObject.KeyValue.id }}" = b-full`)],
      },
    }),
  );
  const flags = ["--object", "configmap/subject", "--option", "mode=full", "--name", "b1", "--wait"];
  const backup = await janus("run", "dump", "backup", ...flags, "--service-account", "ops", ...where);
  expect(backup).toMatchObject({ code: 0, stdout: "actionset.cr.kanister.io/b1\n" });
  expect(backup.stderr).toContain("phase dump: complete\ncomplete\n");
  expect((await read("b1")).metadata.labels).toEqual({ "janus.io/service-account": "ops" });
  expect((await janus("actionset", "logs", "b1", ...where)).stdout).toBe(
    "phase dump: id=b-full\nartifact cloudObject: id=b-full\n",
  );
  expect((await janus("actionset", "explain", "b1", ...where)).stdout).toContain("It is complete.");

  const restore = await janus("run", "dump", "restore", "--from", "b1", "--wait", ...where);
  expect(restore).toMatchObject({ code: 0, stdout: expect.stringMatching(/^actionset.*\/restore-b1-[0-9a-f]{5}\n$/u) });
  const [, name = ""] = /\/(.+)\n/u.exec(restore.stdout) ?? [];
  expect(await read(name)).toMatchObject({
    metadata: { labels: { "janus.io/service-account": "ops" } },
    spec: { serviceAccountName: "ops" },
  });
  const other = await janus(
    "run",
    "dump",
    "restore",
    "--from",
    "b1",
    "--service-account",
    "other",
    "--dry-run",
    ...where,
  );
  expect(other.stdout).toContain("serviceAccountName: other");
  expect((await janus("actionset", "watch", "b1", ...where)).code).toBe(0);

  const refused = await janus(
    "run",
    "dump",
    "backp",
    "--object",
    "configmap/subject",
    "--name",
    "b2",
    "--wait",
    ...where,
  );
  expect(refused.code).toBe(3);
  expect((await janus("actionset", "explain", "b2", ...where)).stdout).toContain("nothing was changed");
  expect((await janus("actionset", "delete", "b2", ...where)).code).toBe(0);
});

it("doctor says whether a controller of Blueprints leads, and which ActionSets nobody executes", async () => {
  const namespace = await prepared();
  const doctor = async (): Promise<string> =>
    (await janus("doctor", "-n", namespace, "--system-namespace", namespace)).stdout.replaceAll(/\s+/gu, " ");
  expect(await doctor()).not.toContain("Blueprints");
  await administrator.create(
    within(namespace, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "janus-blueprints-leader" },
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 3600,
        renewTime: `${new Date().toISOString().slice(0, -1)}000Z`,
      },
    }),
  );
  const left = actionSet("left", actionOn("backup", "dump"));
  await administrator.create(within(namespace, { ...left, status: { state: "running" } }));
  const said = await doctor();
  expect(said).toContain("✔ Blueprints, ActionSets and Profiles are served");
  expect(said).toContain("✔ of Blueprints: me leads");
  expect(said).toContain("janus-blueprints-fence: ");
  expect(said).toContain(`✘ ActionSets that Kanister has left running in ${namespace}: left`);
});
