// Tests the functions that move data, with restic and an S3 server: a volume that is backed up is restored byte for byte, and nothing leaks.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { eventsOf } from "../fixtures/events.ts";
import { roleBinding, secret, within } from "../fixtures/manifests.ts";
import { hasObjectStorage, type ObjectStorage, startObjectStorage } from "../fixtures/object-storage.ts";
import { actionOn, actionSet, API_VERSION, blueprint } from "./objects.ts";
import { place } from "./world.ts";

const claim = (name: string): Parameters<typeof administrator.create>[0] => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
});

const profileOf = (storage: ObjectStorage): Parameters<typeof administrator.create>[0] => ({
  apiVersion: API_VERSION,
  kind: "Profile",
  metadata: { name: "s3" },
  location: { type: "s3Compliant", bucket: storage.bucket, endpoint: storage.endpoint },
  credential: { type: "keyPair", keyPair: { secret: { name: "s3-secret" } } },
});

/** Of the ServiceAccount: the ClusterRole `admin` has no Profiles. */
const reader = (own: string): readonly Parameters<typeof administrator.create>[0][] => [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "profiles" },
    rules: [{ apiGroups: ["cr.kanister.io"], resources: ["profiles"], verbs: ["get"] }],
  },
  roleBinding("profiles", "Role", "profiles", `${own}/ops`),
];

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

describe.runIf(hasObjectStorage)("volumes in object storage", () => {
  let storage: ObjectStorage;
  beforeAll(async () => {
    storage = await startObjectStorage();
  });
  afterAll(() => storage.stop());

  const namespace = "{{ .Object.metadata.namespace }}";
  it("are backed up, restored byte for byte, and deleted; the credentials are in no object but Secrets", async () => {
    const { create, over, namespace: own, names } = await place();
    await create(
      ...reader(own),
      secret("s3-secret", { aws_access_key_id: storage.id, aws_secret_access_key: storage.secret }),
      profileOf(storage),
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
      ...reader(own),
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
});
