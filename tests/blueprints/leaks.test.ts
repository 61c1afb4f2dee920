// Secrets that are marked are looked for in all that the controller writes, asks for and logs, over all functions and arguments.
import { randomBytes } from "node:crypto";
import type { PodStreams, Request } from "@janus/kube";
import type { Log } from "@janus/runtime/parts";
import { expect, it, onTestFinished } from "vitest";
import type { ArgType } from "../../packages/blueprints/src/core/args.ts";
import { functionNames, functionOf } from "../../packages/blueprints/src/core/functions/index.ts";
import { administrator } from "../fixtures/administrator.ts";
import { deployment, role, roleBinding, secret, within } from "../fixtures/manifests.ts";
import { serveSnapshots, snapshotterTurn } from "../fixtures/snapshot-kinds.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, API_VERSION, blueprint } from "./objects.ts";
import { kando, podsRun, runningPod, statefulSet } from "./running-pods.ts";
import { client, controllerOf, isOver, nodeFor, prepared } from "./world.ts";

/** Random, and the same in URLs and JSON. */
const word = `marked${randomBytes(12).toString("hex")}`;
const value = `${word} "$(echo)" +/?&=%`;

/** What base64 makes of it, wherever in a text it stands. */
const encoded = [0, 1, 2].map((before) =>
  Buffer.from(`${"x".repeat(before)}${word}`)
    .toString("base64")
    .slice(4, -4),
);

const showsMark = (seen: unknown): boolean => {
  const text = JSON.stringify(seen) ?? "";
  return [word, ...encoded].some((form) => text.includes(form));
};

const MARK = "{{ .Secrets.credentials.Data.mark | toString }}";
/** Prints it, makes it an output, and fails. */
const command = ["sh", "-c", `echo "$1"; echo "$1" >&2; ${kando("mark", "$1")}; exit 3`, "name", MARK];

interface Row {
  /** The object of the action. Default: the ConfigMap `subject`. */
  readonly object?: object;
  /** Valid; where values of Secrets may stand, with one. */
  readonly args: (namespace: string) => Readonly<Record<string, unknown>>;
  readonly state: "complete" | "failed";
}

const waiting = (condition: string): Row => ({
  args: (namespace) => ({
    timeout: "1s",
    conditions: {
      allOf: [
        { condition, objectReference: { apiVersion: "v1", resource: "secrets", name: "credentials", namespace } },
      ],
    },
  }),
  state: "failed",
});

/** Nothing answers at the endpoint of the Profile: their Pods fail. */
const moving = (args: object): Row => ({ args: (namespace) => ({ namespace, ...args }), state: "failed" });

const FOLDER = { includePath: "/data", backupArtifactPrefix: "bucket/shop" };
const BACKUPS = JSON.stringify({ "set-0": { PodName: "set-0", BackupID: "1", BackupTag: "a" } });

const ROWS: Readonly<Record<string, Row>> = {
  BackupData: moving({ ...FOLDER, pod: "db-0", container: "db" }),
  BackupDataAll: moving({ ...FOLDER, pods: "db-0", container: "db" }),
  BackupDataStats: moving({ backupArtifactPrefix: "bucket/shop", backupID: "1" }),
  CheckRepository: { args: () => ({ backupArtifactPrefix: "bucket/shop" }), state: "failed" },
  CopyVolumeData: moving({ volume: "data", dataArtifactPrefix: "bucket/shop" }),
  DeleteData: moving({ backupArtifactPrefix: "bucket/shop", backupID: "1" }),
  DeleteDataAll: moving({ backupArtifactPrefix: "bucket/shop", backupInfo: BACKUPS }),
  LocationDelete: { args: () => ({ artifact: "shop/a" }), state: "failed" },
  RestoreData: moving({
    image: "tools",
    backupArtifactPrefix: "bucket/shop",
    backupIdentifier: "1",
    volumes: { data: "/data" },
  }),
  RestoreDataAll: {
    ...moving({ image: "tools", backupArtifactPrefix: "bucket/shop", backupInfo: BACKUPS }),
    object: { kind: "statefulset", name: "set" },
  },
  CreateCSISnapshot: {
    args: (namespace) => ({ namespace, pvc: "data", snapshotClass: "csi" }),
    state: "complete",
  },
  CreateCSISnapshotStatic: {
    args: (namespace) => ({
      namespace,
      name: "imported",
      driver: "csi.example.com",
      snapshotHandle: "handle",
      snapshotClass: "csi",
    }),
    state: "complete",
  },
  DeleteCSISnapshot: { args: (namespace) => ({ namespace, name: "none" }), state: "complete" },
  DeleteCSISnapshotContent: { args: () => ({ name: "none" }), state: "complete" },
  KubeExec: { args: (namespace) => ({ namespace, pod: "db-0", command }), state: "failed" },
  KubeExecAll: { args: (namespace) => ({ namespace, pods: "db-0", containers: "db", command }), state: "failed" },
  KubeOps: {
    args: (namespace) => ({
      operation: "create",
      namespace,
      spec: "{apiVersion: v1, kind: Secret, metadata: {name: made}, data: {mark: '{{ .Secrets.credentials.Data.mark | toString | b64enc }}'}}",
    }),
    state: "complete",
  },
  KubeTask: { args: () => ({ image: "busybox", command }), state: "failed" },
  MultiContainerRun: {
    args: () => ({
      initImage: "busybox",
      initCommand: ["true", MARK],
      backgroundImage: "busybox",
      backgroundCommand: command,
      outputImage: "busybox",
      outputCommand: command,
    }),
    state: "failed",
  },
  PrepareData: {
    args: (namespace) => ({ namespace, image: "busybox", command, volumes: { data: "/data" } }),
    state: "complete",
  },
  RestoreCSISnapshot: {
    args: (namespace) => ({ namespace, name: "none", pvc: "restored", storageClass: "none", restoreSize: "1Gi" }),
    state: "complete",
  },
  ScaleWorkload: {
    args: (namespace) => ({ namespace, name: "web", kind: "Deployment", replicas: 0, waitForReady: false }),
    state: "complete",
  },
  Wait: waiting('{{ if eq "{ $.data.mark }" "no" }}true{{ end }}'),
  WaitV2: waiting("{{ .data.mark }}"),
};

/** An argument of this type that depends on a Secret. */
const marked = (type: ArgType, valid: unknown): unknown => {
  switch (type) {
    case "texts":
    case "words":
      return [MARK];
    case "map":
      return { mark: MARK };
    case "object":
      return { ...(valid as object | undefined), mark: MARK, env: [{ mark: MARK }] };
    case "text":
    case "content":
    case "integer":
    case "boolean":
      return MARK;
  }
};

/** A run of each function as it is meant, and one for each of its arguments with a value of a Secret. */
const runsOf = (namespace: string) =>
  Object.entries(ROWS).flatMap(([func, { args, state, object }]) => {
    const valid = args(namespace);
    const each = Object.entries(functionOf(func)?.args ?? {}).map(([name, { type }]) => ({
      name: `${func}-${name}`.toLowerCase(),
      func,
      args: { ...valid, [name]: marked(type, valid[name]) },
      state: undefined,
      object,
    }));
    return [{ name: func.toLowerCase(), func, args: valid, state, object }, ...each];
  });

it("has each function", () => expect(functionNames.filter((name) => !Object.hasOwn(ROWS, name))).toEqual([]));

it("no value of a Secret is in an object, event, URL or line of the log, whatever function and argument it is given to", async () => {
  await serveSnapshots();
  const namespace = await prepared();
  const node = await nodeFor(namespace);
  onTestFinished(node.stop);

  const seen: { readonly what: string; readonly shows: boolean }[] = [];
  const keep = (what: string, one: unknown): void => void seen.push({ what, shows: showsMark(one) });
  const send = (request: Request) => {
    const isSecret = "resource" in request && request.resource.plural === "secrets";
    const text = `${request.purpose} ${request.verb} ${"name" in request ? request.name : ""}`;
    keep(text, isSecret ? { ...request, body: undefined } : request);
    return client.send(request);
  };
  const exec: PodStreams["exec"] = (request, signal) => {
    keep("exec", { ...request, stdin: undefined });
    return client.exec(request, signal);
  };
  const log: Log = (...line) => keep(`log: ${line[1]}`, line);

  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec };
  const profile = {
    apiVersion: API_VERSION,
    kind: "Profile",
    metadata: { name: "s3" },
    location: { type: "s3Compliant", bucket: "bucket", endpoint: "http://127.0.0.1:9" },
    credential: { type: "keyPair", keyPair: { secret: { name: "s3-secret" } } },
  };
  for (const one of [
    secret("credentials", { mark: value }),
    secret("s3-secret", { aws_access_key_id: word, aws_secret_access_key: value }),
    profile,
    role("profiles", { apiGroups: ["cr.kanister.io"], resources: ["profiles"], verbs: ["get"] }),
    roleBinding("profiles", "Role", "profiles", `${namespace}/ops`),
    claim,
    deployment("web", "busybox"),
    statefulSet("set", "db", 1),
  ])
    await administrator.create(within(namespace, one));
  await runningPod(namespace, "db-0", "db");
  await podsRun(namespace, "set-0");
  onTestFinished(controllerOf({ ...client, send, exec }, namespace, { log }).stop);

  const runs = runsOf(namespace);
  const given = { secrets: { credentials: { name: "credentials", namespace: "" } }, profile: { name: "s3" } };
  for (const { name, func, args, state, object } of runs) {
    // Those that are to end as meant have all the time that they need; the others may wait for what does not come.
    const timeout = state === undefined ? "10s" : "150s";
    const outputArtifacts = { mark: { keyValue: { mark: "{{ toJson .Phases.only.Output }}" } } };
    await administrator.create(
      within(namespace, blueprint(name, { do: { outputArtifacts, phases: [{ func, name: "only", args, timeout }] } })),
    );
    await administrator.create(
      within(namespace, actionSet(name, actionOn("do", name, { ...given, ...(object && { object }) }))),
    );
  }
  const sets = async () =>
    (await administrator.list(actionSetRef(""), namespace)) as unknown as readonly ActionSetObject[];
  const unfinished = async (): Promise<readonly string[]> => {
    await snapshotterTurn(namespace);
    return (await sets()).filter((one) => !isOver(one)).map(({ metadata }) => metadata.name ?? "");
  };
  await expect.poll(unfinished, { timeout: 600_000, interval: 500 }).toEqual([]);

  for (const kind of ["Pod", "Event", "ConfigMap", "PersistentVolumeClaim"])
    for (const one of await administrator.list({ apiVersion: "v1", kind }, namespace))
      keep(`${kind} ${one.metadata.name}`, one);
  const ended = await sets();
  for (const one of ended) keep(`ActionSet ${one.metadata.name}`, one);
  expect(seen.filter(({ shows }) => shows)).toEqual([]);

  // Each did what it was to do with the value, and did not merely fail before.
  const unlike = runs.flatMap((run) => {
    const status = ended.find(({ metadata }) => metadata.name === run.name)?.status;
    const isAsMeant = status?.state === run.state && status?.error?.message.startsWith("nothing was run") !== true;
    return run.state === undefined || isAsMeant ? [] : [`${run.name} ${status?.state}: ${status?.error?.message}`];
  });
  expect(unlike).toEqual([]);
  expect(showsMark(await administrator.read(within(namespace, secret("made"))))).toBe(true);
});
