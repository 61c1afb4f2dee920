// Tests the functions that move data: what restic is given, what is known of several Pods, and that each Pod is made once.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBackupInfo, writeBackupInfo } from "../../../packages/blueprints/src/core/data/backup-info.ts";
import { resticEnv } from "../../../packages/blueprints/src/core/data/restic-repository.ts";
import type { ExecOutcome } from "../../../packages/blueprints/src/core/exec/exec-outcome.ts";
import { backupDataAll } from "../../../packages/blueprints/src/core/functions/backup-data-all.ts";
import { backupData } from "../../../packages/blueprints/src/core/functions/backup-data.ts";
import { copyVolumeData } from "../../../packages/blueprints/src/core/functions/copy-volume-data.ts";
import { restoreDataAll } from "../../../packages/blueprints/src/core/functions/restore-data-all.ts";
import { restoreData } from "../../../packages/blueprints/src/core/functions/restore-data.ts";
import { madePods } from "../../../packages/blueprints/src/core/pods/parts.ts";
import { endLog, NO_LOG, readLog } from "../../../packages/blueprints/src/core/log-output.ts";
import { plain } from "../../../packages/blueprints/src/core/text.ts";
import { type Crash, execute, newWorld, START, withCrashes, type World } from "./phase-world.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const secret = (data: Readonly<Record<string, string>>): JsonObject => ({
  kind: "Secret",
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
});

const PROFILE = {
  "profiles/kanister/s3": {
    location: { type: "s3Compliant", bucket: "bucket", endpoint: "https://s3.example.com/", region: "eu-1" },
    credential: { type: "keyPair", keyPair: { secret: { name: "s3" } } },
  },
  "secrets/kanister/s3": secret({ aws_access_key_id: "id", aws_secret_access_key: "it's secret" }),
};
const AROUND = { profile: { name: "s3" } };

const pod = (name: string): JsonObject => ({
  [`pods/shop/${name}`]: {
    spec: { containers: [{ name: "tools" }] },
    status: { phase: "Running", containerStatuses: [{ name: "tools", state: { running: {} } }] },
  },
});

const said = (stdout: string, exitCode = 0): ExecOutcome => ({
  type: "exited",
  exitCode,
  stdout: endLog(readLog(NO_LOG, stdout)),
  stderr: NO_LOG,
});

const SAVED = "processed 2 files, 10.000 MiB in 0:00\nsnapshot c0ffee01 saved\n";

const FOLDER = { namespace: "shop", container: "tools", includePath: "/data", backupArtifactPrefix: "shop" };

/** The words of the scripts that were sent to containers. */
const sent = ({ step }: ReturnType<typeof execute>) =>
  step.type === "wait" ? (step.execs ?? []).map(({ command, stdin = "" }) => ({ command, stdin })) : [];

const running = (): World => newWorld({ ...PROFILE, ...pod("db-0"), ...pod("db-1") });

const BACKUP = { ...FOLDER, pod: "db-0" };

const ends = (outcome: ExecOutcome) =>
  execute(backupData, BACKUP, running(), { ...AROUND, executed: () => outcome }).step;

const tagIn = (attempt: number, crash?: Crash): string | undefined => {
  const [one] = sent(execute(backupData, BACKUP, running(), { ...AROUND, attempt, ...(crash && { crash }) }));
  return /'([a-z2-7]{10})' '\/data'/u.exec(one?.stdin ?? "")?.[1];
};

describe("BackupData", () => {
  it("gives restic its credentials over stdin, as variables of its process, and nothing else of them", () => {
    const waiting = execute(backupData, { ...BACKUP, encryptionKey: plain("o'clock") }, running(), AROUND);
    const [{ command, stdin } = { command: [], stdin: "" }] = sent(waiting);
    expect(command).toEqual(["sh"]);
    expect(stdin).toContain("export RESTIC_REPOSITORY='s3:https://s3.example.com/bucket/shop'\n");
    expect(stdin).toContain("export AWS_ACCESS_KEY_ID='id'\nexport AWS_SECRET_ACCESS_KEY='it'\\''s secret'\n");
    expect(stdin).toContain("export AWS_DEFAULT_REGION='eu-1'\nexport RESTIC_PASSWORD='o'\\''clock'\n");
    expect(stdin).toMatch(/'[a-z2-7]{10}' '\/data' <\/dev\/null\n$/u);
  });

  it("has the tag of its phase, in each attempt, and after a crash at any request", () => {
    const tag = tagIn(1);
    expect(tag).toMatch(/^[a-z2-7]{10}$/u);
    withCrashes((crash?: Crash) => {
      expect(tagIn(2, crash)).toBe(tag);
      return execute(backupData, BACKUP, running(), AROUND);
    });
  });

  it("tells what restic has made, and fails as restic does", () => {
    expect(ends(said(SAVED))).toEqual({
      type: "end",
      output: {
        backupID: "c0ffee01",
        backupTag: expect.stringMatching(/^[a-z2-7]{10}$/u) as string,
        fileCount: "2",
        size: "10.000 MiB",
        phySize: "",
        version: "v0.0.0",
      },
    });
    expect(ends(said("no space left", 1))).toMatchObject({
      message: 'Pod shop/db-0, container "tools": the command exited with 1; last lines: no space left',
    });
    expect(ends(said(""))).toMatchObject({ message: expect.stringContaining("restic ended without a backup") });
  });
});

const WORKLOAD = {
  Pods: ["db-0", "db-1"],
  PersistentVolumeClaims: { "db-0": { "data-0": "/data" }, "db-1": { "data-1": "/data" } },
};

describe("the backups of several Pods", () => {
  it("are told as Kanister tells them, by the Pods of the object", () => {
    const all = { ...AROUND, workload: WORKLOAD };
    const prefixes = sent(execute(backupDataAll, FOLDER, running(), all)).map(
      ({ stdin }) => /RESTIC_REPOSITORY='([^']*)'/u.exec(stdin)?.[1],
    );
    expect(prefixes).toEqual(["db-0", "db-1"].map((name) => `s3:https://s3.example.com/bucket/shop/${name}`));
    const { step } = execute(backupDataAll, FOLDER, running(), { ...all, executed: () => said(SAVED) });
    const output = asObject(step.type === "end" ? step.output : {});
    expect(JSON.parse(output["BackupAllInfo"] as string)).toEqual(
      Object.fromEntries(
        WORKLOAD.Pods.map((PodName) => [
          PodName,
          { PodName, BackupID: "c0ffee01", BackupTag: expect.stringMatching(/^[a-z2-7]{10}$/u) as string },
        ]),
      ),
    );
  });

  it("are of those Pods that an argument names, and of at least one", () => {
    const named = { ...FOLDER, pods: " db-1\ndb-1 " };
    expect(sent(execute(backupDataAll, named, running(), AROUND))).toHaveLength(1);
    expect(execute(backupDataAll, FOLDER, running(), AROUND).step).toMatchObject({
      message: expect.stringContaining("there are no Pods"),
    });
  });

  it("are read as they were written", () => {
    const backup = fc.record({ pod: fc.string(), tag: fc.string(), id: fc.string({ minLength: 1 }) });
    fc.assert(
      fc.property(fc.uniqueArray(backup, { selector: ({ pod: name }) => name }), (all) => {
        const made = all.map(({ pod: name, tag, id }) => ({
          pod: name,
          tag,
          backup: { backupID: id, fileCount: "", size: "", phySize: "" },
        }));
        const read = readBackupInfo(writeBackupInfo(made));
        expect(read).toEqual(E.right(new Map(all.map(({ pod: name, id }) => [name, id]))));
      }),
    );
  });
});

/** Pods that have ended as soon as they may begin. */
const ended = (one: KubeObject): KubeObject =>
  (asObject(one["spec"])["schedulingGates"] ?? null) === null ? { ...one, status: { phase: "Succeeded" } } : one;

const info = (...names: readonly string[]): string =>
  JSON.stringify(Object.fromEntries(names.map((name) => [name, { BackupID: `id-of-${name}` }])));

/** As the API server stores it. */
const encoded = ({ stringData, ...one }: KubeObject): KubeObject =>
  stringData === undefined
    ? one
    : {
        ...one,
        data: Object.fromEntries(
          Object.entries(stringData as JsonObject).map(([key, value]) => [key, base64(value as string)]),
        ),
      };

const evicted = (one: KubeObject): KubeObject => ({ ...one, status: { phase: "Failed", reason: "Evicted" } });

/** The first of two Pods fails at once. */
const failing = (one: KubeObject): KubeObject => {
  const [container = {}] = asObject(one["spec"])["containers"] as readonly JsonObject[];
  return (container["command"] as readonly string[]).includes("id-of-db-0") ? evicted(one) : one;
};

/** Those that have not ended. */
const left = ({ objects }: World): readonly KubeObject[] =>
  [...objects.values()].filter(({ kind, status }) => kind === "Pod" && status === undefined);

describe("RestoreDataAll", () => {
  const claims = { "persistentvolumeclaims/shop/data-0": {}, "persistentvolumeclaims/shop/data-1": {} };
  const args = { namespace: "shop", image: "tools", backupArtifactPrefix: "shop", backupInfo: info("db-0", "db-1") };
  const around = { ...AROUND, workload: WORKLOAD, log: endLog(NO_LOG) };

  it("makes one Pod for each, once, with its claims and credentials, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ ...PROFILE, ...claims }, { pods: ended, secrets: encoded });
      const all = { ...around, ...(crash && { crash }) };
      const { step, remembered, count } = execute(restoreDataAll, args, world, all).again(START);
      expect(step).toEqual({ type: "end", output: {} });
      const made = [...world.objects.values()].filter(({ metadata }) => metadata.name?.startsWith("restore-data-all-"));
      const pods = made.filter(({ kind }) => kind === "Pod");
      const words = pods.map(({ spec }) => asObject((asObject(spec)["containers"] as readonly JsonObject[])[0]));
      expect(words.map(({ command }) => (command as readonly string[]).slice(4).join(" ")).toSorted()).toEqual([
        "id-of-db-0 /",
        "id-of-db-1 /",
      ]);
      expect(made).toHaveLength(4);
      expect(Object.keys(asObject(remembered["parts"]))).toEqual(["0", "1"]);
      return { count };
    });
  });

  it("finds all Pods that it may have made once the ActionSet is deleted, and makes none", () => {
    const world = newWorld({ ...PROFILE, ...claims });
    execute(restoreDataAll, args, world, around);
    const made = world.writes.length;
    const stopping = { ...restoreDataAll, step: restoreDataAll.stop ?? restoreDataAll.step };
    const { step, remembered } = execute(stopping, args, world, around);
    expect(step).toEqual({ type: "fail", message: "the ActionSet was deleted" });
    const names = madePods(remembered).map(({ ref }) => `pods/shop/${ref.name}`);
    expect(names).toHaveLength(2);
    expect(names.filter((name) => !world.objects.has(name))).toEqual([]);
    expect(world.writes).toHaveLength(made);
  });

  it("ends with all failures when all of its Pods have ended", () => {
    const world = newWorld({ ...PROFILE, ...claims }, { pods: failing, secrets: encoded });
    const running = execute(restoreDataAll, args, world, around).again(START);
    expect(running.step).toMatchObject({ type: "wait", watched: [{}] });
    for (const one of left(world)) world.objects.set(`pods/shop/${one.metadata.name ?? ""}`, evicted(one));
    const { step } = running.again(START);
    expect(step).toMatchObject({
      type: "fail",
      message: expect.stringMatching(/^Pod .*: Evicted.*; Pod .*: Evicted/u),
    });
  });

  it("says all that is wrong before any Pod is made", () => {
    const world = newWorld(PROFILE);
    const wrong = { ...args, pods: "db-0 db-1 db-2", backupInfo: info("db-0", "db-2") };
    expect(execute(restoreDataAll, wrong, world, around).step).toEqual({
      type: "fail",
      message: "args.backupInfo has no backup of Pod db-1; Pod shop/db-2 of the object has no PersistentVolumeClaims",
    });
    expect(execute(restoreDataAll, { ...args, backupInfo: "{" }, world, around).step).toMatchObject({
      message: expect.stringContaining("args.backupInfo is no JSON"),
    });
    expect(world.writes).toEqual([]);
  });
});

describe("RestoreData", () => {
  const args = { namespace: "shop", image: "tools", backupArtifactPrefix: "shop" };

  it.each<[string, object, readonly string[]]>([
    ["an identifier", { backupIdentifier: "id", volumes: { "data-0": "/data" } }, ["id", "/"]],
    ["a tag", { backupTag: "tag", pod: "db-0", restorePath: "/data" }, ["tag", "latest", "/data"]],
    ["a path in it", { backupIdentifier: "id", backupPath: "/old", pod: "db-0" }, ["id:/old", "/"]],
    ["a tag and a path", { backupTag: "tag", backupPath: "/old", pod: "db-0" }, ["tag", "latest:/old", "/"]],
  ])("restores what is named by %s", (_, more, words) => {
    const found = newWorld({ ...PROFILE, "persistentvolumeclaims/shop/data-0": {} });
    execute(restoreData, { ...args, ...more }, found, { ...AROUND, workload: WORKLOAD });
    const made = [...found.objects.values()].find(({ kind }) => kind === "Pod");
    const { containers, volumes } = asObject(made?.["spec"]);
    expect((asObject((containers as readonly JsonObject[])[0])["command"] as readonly string[]).slice(4)).toEqual(
      words,
    );
    expect(volumes).toEqual([{ name: "vol-0", persistentVolumeClaim: { claimName: "data-0" } }]);
  });
});

describe("CopyVolumeData", () => {
  it("looks for the backup of an earlier attempt: all have one tag, each a Pod of its own", () => {
    const args = { namespace: "shop", volume: "data", dataArtifactPrefix: "shop" };
    const made = [1, 2].map((attempt) => {
      const world = newWorld({ ...PROFILE, "persistentvolumeclaims/shop/data": {} });
      execute(copyVolumeData, args, world, { ...AROUND, attempt });
      const found = [...world.objects.values()].find(({ kind }) => kind === "Pod");
      const [container] = asObject(found?.["spec"])["containers"] as readonly JsonObject[];
      return { name: found?.metadata.name, tag: (asObject(container)["command"] as readonly string[])[4] };
    });
    expect(new Set(made.map(({ tag }) => tag)).size).toBe(1);
    expect(new Set(made.map(({ name }) => name)).size).toBe(2);
  });
});

describe("a Profile of Azure", () => {
  /** https://restic.readthedocs.io/en/stable/030_preparing_a_new_repo.html#microsoft-azure-blob-storage */
  it.each([
    [
      "a key pair",
      { keyPair: { idField: "account", secretField: "key", secret: { name: "azure" } } },
      "account",
      "key",
    ],
    ["a Secret of Kanister's type", { secret: { name: "azure" } }, "azure_storage_account_id", "azure_storage_key"],
  ])("with %s gives restic the account and its key", (_, credential, id, key) => {
    const place = {
      shown: "kanister/azure",
      location: { type: "azure", bucket: "container" },
      credential,
      skipSSLVerify: false,
      secret: {
        apiVersion: "v1",
        metadata: { name: "azure" },
        ...secret({ [id]: "shop", [key]: "c2VjcmV0" }),
      } as KubeObject,
    };
    expect(resticEnv(place, "/backups/shop/", plain("password"))).toEqual(
      E.right({
        RESTIC_REPOSITORY: "azure:container:/backups/shop",
        AZURE_ACCOUNT_NAME: "shop",
        AZURE_ACCOUNT_KEY: "c2VjcmV0",
        RESTIC_PASSWORD: "password",
      }),
    );
  });
});

/** https://restic.readthedocs.io/en/stable/030_preparing_a_new_repo.html#google-cloud-storage */
it.each([
  ["a key pair", { keyPair: { secret: { name: "gcs" } } }, "project_id", "service_key"],
  ["a Secret of Kanister's type", { secret: { name: "gcs" } }, "project-id", "service-account.json"],
])("a Profile of Google with %s gives restic the project and the key", (_, credential, id, key) => {
  const place = {
    shown: "kanister/gcs",
    location: { type: "gcs", bucket: "bucket" },
    credential,
    skipSSLVerify: false,
    secret: { apiVersion: "v1", metadata: { name: "gcs" }, ...secret({ [id]: "shop", [key]: "{}" }) } as KubeObject,
  };
  expect(resticEnv(place, "backups/shop", plain("password"))).toEqual(
    E.right({
      RESTIC_REPOSITORY: "gs:bucket:/backups/shop",
      GOOGLE_PROJECT_ID: "shop",
      GOOGLE_SERVICE_KEY: "{}",
      RESTIC_PASSWORD: "password",
    }),
  );
});

it.each([
  ["a key pair", { type: "keyPair", keyPair: { secret: { name: "s3" } } }],
  ["a Secret", { type: "secret", secret: { name: "s3" } }],
])(
  "a Profile of S3 with %s takes an empty role for none, as kanctl writes it; it assumes no other",
  (_, credential) => {
    const env = (role: string) =>
      resticEnv(
        {
          shown: "kanister/s3",
          location: { type: "s3Compliant", bucket: "bucket" },
          credential,
          skipSSLVerify: false,
          secret: {
            apiVersion: "v1",
            metadata: { name: "s3" },
            ...secret({ aws_access_key_id: "id", aws_secret_access_key: "key", role }),
          } as KubeObject,
        },
        "shop",
        undefined,
      );
    expect(env("")).toMatchObject(E.right({ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "key" }));
    expect(env("arn:aws:iam::1:role/backup")).toEqual(E.left(expect.stringContaining("role to be assumed")));
  },
);
