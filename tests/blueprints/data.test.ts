// Tests the functions that move data, with restic and an S3 server: a volume that is backed up is restored byte for byte, and nothing leaks.
import { randomBytes } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { eventsOf } from "../fixtures/events.ts";
import { secret, within } from "../fixtures/manifests.ts";
import { hasObjectStorage, type ObjectStorage, restoresPaths, startObjectStorage } from "../fixtures/object-storage.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { kando, podsRun, runningPod, statefulSet } from "./running-pods.ts";
import { createProfile, profileOf, profileReader, tagsIn } from "./stored-data.ts";
import { place } from "./world.ts";

const claim = (name: string): Parameters<typeof administrator.create>[0] => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
});

const run = (name: string, action: string): ReturnType<typeof actionSet> =>
  actionSet(name, actionOn(action, "volumes", { profile: { name: "s3" } }));

const fill = `cd "$1" && mkdir -p "a b" && printf x > "a b/new
line" && ln -s /nowhere dangling && head -c 10485760 /dev/urandom > large`;
const sum = `cd "$1" && find . -type f -exec sha256sum {} + | sort | sha256sum | cut -c1-64`;

const prepare = (name: string, script: string): object => ({
  func: "PrepareData",
  name,
  args: {
    namespace: "{{ .Object.metadata.namespace }}",
    image: "tools",
    failOnError: true,
    volumes: { data: "/data" },
    command: ["sh", "-c", script, "sh", "/data"],
  },
});
const prefix = "{{ .Profile.Location.Bucket }}/shop";

const said = (script: string): string =>
  `value=$(${script}); printf '###Phase-output###: {"key":"sum","value":"%s"}\n' "$value"`;

/** Of this machine: a command in a container has its paths as they are. */
const folder = async (): Promise<string> => {
  const made = await mkdtemp(path.join(os.tmpdir(), "janus-folder-"));
  await writeFile(path.join(made, "small"), "x");
  await writeFile(path.join(made, "large"), randomBytes(3_000_000));
  return made;
};

const sums = (name: string, file: string): string =>
  `value=$(sha256sum < "${file}" | cut -c1-64); ${kando(name, "'\"$value\"'")}`;

describe.runIf(hasObjectStorage)("volumes in object storage", () => {
  let storage: ObjectStorage;
  beforeAll(async () => {
    storage = await startObjectStorage();
  });
  afterAll(() => storage.stop());

  const namespace = "{{ .Object.metadata.namespace }}";
  it("are backed up, restored byte for byte, and deleted; the credentials are in no object but Secrets", async () => {
    const { create, over, namespace: own, names } = await place();
    await createProfile(own, storage);
    await create(
      claim("data"),
      blueprint("volumes", {
        round: {
          phases: [
            prepare("fill", `${fill}; ${said(sum)}`),
            { func: "CopyVolumeData", name: "copy", args: { namespace, volume: "data", dataArtifactPrefix: prefix } },
            {
              func: "BackupDataStats",
              name: "stats",
              args: { namespace, backupArtifactPrefix: prefix, backupID: "{{ .Phases.copy.Output.backupID }}" },
            },
            prepare("lose", `rm -rf "$1"/*`),
            {
              func: "RestoreData",
              name: "restore",
              args: {
                namespace,
                image: "tools",
                backupArtifactPrefix: prefix,
                backupTag: "{{ .Phases.copy.Output.backupTag }}",
                volumes: { data: "/mnt/vol_data/data" },
              },
            },
            prepare("compare", `test "$(readlink "$1"/dangling)" = /nowhere; ${said(sum)}`),
            {
              func: "DeleteData",
              name: "delete",
              args: {
                namespace,
                backupArtifactPrefix: prefix,
                backupTag: "{{ .Phases.copy.Output.backupTag }}",
                reclaimSpace: true,
              },
            },
            {
              func: "DeleteData",
              name: "again",
              args: { namespace, backupArtifactPrefix: prefix, backupTag: "{{ .Phases.copy.Output.backupTag }}" },
            },
            { func: "CheckRepository", name: "check", args: { backupArtifactPrefix: prefix } },
            { func: "CheckRepository", name: "other", args: { backupArtifactPrefix: prefix, encryptionKey: "wrong" } },
          ],
        },
      }),
      run("round", "round"),
    );
    const { status, ...rest } = await over("round");
    expect(status.error?.message).toBeUndefined();
    const output = (name: string): object =>
      status.actions[0]?.phases.find((phase) => phase.name === name)?.output as object;
    expect(output("copy")).toMatchObject({
      fileCount: "2",
      size: "10.000 MiB",
      backupArtifactLocation: "backups/shop",
    });
    expect(output("stats")).toMatchObject({ mode: "restore-size", size: "10.000 MiB" });
    expect(output("compare")).toEqual(output("fill"));
    expect(output("check")).toMatchObject({ passwordIncorrect: "false", repoUnavailable: "false" });
    expect(output("other")).toMatchObject({ passwordIncorrect: "true", repoUnavailable: "false" });
    const shown = JSON.stringify([status, rest, await eventsOf(own, "round")]);
    expect(shown).not.toContain(storage.secret);
    expect(shown).not.toContain(storage.id);
    await expect.poll(() => names("v1", "Pod")).toEqual([]);
  });

  it("say which key of which Secret is missing, and what the storage has against the credentials", async () => {
    const { create, over, namespace: own } = await place();
    await create(
      ...profileReader(own),
      secret("s3-secret", { aws_access_key_id: storage.id }),
      profileOf(storage),
      blueprint("volumes", {
        check: { phases: [{ func: "CheckRepository", name: "check", args: { backupArtifactPrefix: "shop" } }] },
      }),
      run("incomplete", "check"),
    );
    expect((await over("incomplete")).status.error?.message).toContain(
      `Secret ${own}/s3-secret has no key "aws_secret_access_key" (Profile ${own}/s3)`,
    );
    await administrator.apply(
      within(own, secret("s3-secret", { aws_access_key_id: storage.id, aws_secret_access_key: "wrong-4711" })),
    );
    await create(run("wrong", "check"));
    const message = (await over("wrong")).status.error?.message ?? "";
    expect(message).toMatch(/signature|denied/i);
    expect(message).not.toContain("wrong-4711");
  });

  const backup = (includePath: string, backupArtifactPrefix: string): object => ({
    func: "BackupData",
    name: "backup",
    args: { namespace, pod: "db-0", container: "tools", includePath, backupArtifactPrefix },
  });
  const restore = (backupArtifactPrefix: string, more: object): object => ({
    func: "RestoreData",
    name: "restore",
    args: {
      namespace,
      image: "tools",
      backupArtifactPrefix,
      backupTag: "{{ .Phases.backup.Output.backupTag }}",
      restorePath: "/data",
      volumes: { data: "/data" },
      ...more,
    },
  });
  const compare = (folder: string, below: string): object => ({
    func: "PrepareData",
    name: "compare",
    args: {
      namespace,
      image: "tools",
      failOnError: true,
      volumes: { data: "/data" },
      command: ["sh", "-c", 'diff -r "$1" "$2"', "sh", folder, `/data${below}`],
    },
  });

  it("take the folder of a Pod, byte for byte; the credentials are in no object but Secrets", async () => {
    const { create, over, namespace: own, names } = await place();
    await createProfile(own, storage);
    const data = await folder();
    await runningPod(own, "db-0", "tools");
    await create(
      claim("data"),
      blueprint("volumes", {
        round: {
          phases: [
            backup(data, "folder"),
            restore("folder", {}),
            compare(data, data),
            {
              func: "DeleteData",
              name: "delete",
              args: {
                namespace,
                backupArtifactPrefix: "folder",
                backupID: "{{ .Phases.backup.Output.backupID }}",
                reclaimSpace: true,
              },
            },
          ],
        },
      }),
      run("round", "round"),
    );
    const { status, ...rest } = await over("round");
    expect(status.error?.message).toBeUndefined();
    expect(status.actions[0]?.phases[0]?.output).toMatchObject({ fileCount: "2", size: "2.861 MiB" });
    expect(await tagsIn(storage, "folder")).toEqual([]);
    const shown = JSON.stringify([status, rest, await eventsOf(own, "round")]);
    expect(shown).not.toContain(storage.secret);
    expect(shown).not.toContain(storage.id);
    await expect.poll(() => names("v1", "Pod")).toEqual(["db-0"]);
  });

  it.runIf(restoresPaths)("give back a path of a backup at another place", async () => {
    const { create, over, namespace: own } = await place();
    await createProfile(own, storage);
    const data = await folder();
    await runningPod(own, "db-0", "tools");
    await create(
      claim("data"),
      blueprint("volumes", {
        round: { phases: [backup(data, "path"), restore("path", { backupPath: data }), compare(data, "")] },
      }),
      run("round", "round"),
    );
    expect((await over("round")).status.error?.message).toBeUndefined();
  });

  it("are those of all Pods of a StatefulSet, each restored into its own", async () => {
    const { create, over, namespace: own, names } = await place();
    await createProfile(own, storage);
    await create(statefulSet("db", "tools", 2));
    await podsRun(own, "db-0", "db-1");
    const all = "{{ .StatefulSet.Namespace }}";
    const backupInfo = "{{ .Phases.backup.Output.BackupAllInfo }}";
    await create(
      blueprint("volumes", {
        round: {
          phases: [
            {
              func: "KubeExecAll",
              name: "fill",
              args: {
                namespace: all,
                pods: "db-0 db-1",
                containers: "tools",
                command: [
                  "sh",
                  "-c",
                  `mkdir folder && head -c 1000000 /dev/urandom > folder/f; ${sums("sum_'${HOSTNAME#db-}'", "folder/f")}`,
                ],
              },
            },
            {
              func: "BackupDataAll",
              name: "backup",
              args: { namespace: all, container: "tools", includePath: "folder", backupArtifactPrefix: "all" },
            },
            {
              func: "RestoreDataAll",
              name: "restore",
              args: {
                namespace: all,
                image: "tools",
                backupArtifactPrefix: "backups/all",
                backupInfo,
                restorePath: "/data",
              },
            },
            {
              func: "PrepareData",
              name: "compare",
              args: {
                namespace: all,
                image: "tools",
                failOnError: true,
                volumes: { "data-db-0": "/zero", "data-db-1": "/one" },
                command: [
                  "sh",
                  "-c",
                  `${sums("sum_0", "$1/folder/f")}; ${sums("sum_1", "$2/folder/f")}`,
                  "sh",
                  "/zero",
                  "/one",
                ],
              },
            },
            {
              func: "DeleteDataAll",
              name: "delete",
              args: { namespace: all, backupArtifactPrefix: "all", backupInfo, reclaimSpace: true },
            },
          ],
        },
      }),
      actionSet("round", {
        name: "round",
        blueprint: "volumes",
        object: { kind: "statefulset", name: "db", namespace: own },
        profile: { name: "s3" },
      }),
    );
    const { status } = await over("round");
    expect(status.error?.message).toBeUndefined();
    const output = (at: number) => status.actions[0]?.phases[at]?.output;
    expect(Object.keys(output(0) ?? {})).toEqual(["sum_0", "sum_1"]);
    expect(output(3)).toEqual(output(0));
    expect(await Promise.all(["db-0", "db-1"].map((pod) => tagsIn(storage, `all/${pod}`)))).toEqual([[], []]);
    await expect.poll(() => names("v1", "Pod")).toEqual(["db-0", "db-1"]);
  });
});
