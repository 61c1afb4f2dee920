// Each function runs with the Role that `kubectl janus blueprint permissions` prints for it, and asks for nothing else.
import type { Request } from "@janus/kube";
import { rolesOf } from "@janus/blueprints/authoring";
import { expect, it, onTestFinished } from "vitest";
import { functionNames, functionOf } from "../../packages/blueprints/src/core/functions/index.ts";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { role, roleBinding, secret, serviceAccount, within } from "../fixtures/manifests.ts";
import { serveSnapshots, snapshotterTurn } from "../fixtures/snapshot-kinds.ts";
import { rightsIn, rulesOf } from "../deploy/permissions.ts";
import { type ActionSetObject, actionOn, actionSet, actionSetRef, API_VERSION, blueprint } from "./objects.ts";
import { podsRun, runningPod, statefulSet } from "./running-pods.ts";
import { client, controllerOf, isOver, nodeFor, prepared } from "./world.ts";

interface Row {
  /** The StatefulSet that its action is on. Default: it is on the ConfigMap `subject`. */
  readonly on?: string;
  readonly args: (namespace: string) => Readonly<Record<string, unknown>>;
  /** What it ends with. Default: complete. */
  readonly state?: "failed";
  /** Rights that its comment names, because no Role can be printed for them. */
  readonly named?: readonly string[];
}

/** Nothing answers at the endpoint of the Profile: its Pod fails. */
const moving = (args: object): Row => ({ args: (namespace) => ({ namespace, ...args }), state: "failed" });

/** With the value of a Secret, so that its Pod waits for one. */
const command = ["sh", "-c", 'test -n "$1"', "name", "{{ .Secrets.credentials.Data.word | toString }}"];

const waiting = (condition: string): Row => ({
  args: (namespace) => ({
    timeout: "20s",
    conditions: {
      anyOf: [{ condition, objectReference: { apiVersion: "v1", resource: "configmaps", name: "subject", namespace } }],
    },
  }),
});

const FOLDER = { includePath: "/data", backupArtifactPrefix: "bucket/shop" };
const BACKUPS = JSON.stringify({ "set-0": { PodName: "set-0", BackupID: "1", BackupTag: "a" } });

const ROWS: Readonly<Record<string, Row>> = {
  BackupData: moving({ ...FOLDER, pod: "db-0", container: "db" }),
  BackupDataAll: moving({ ...FOLDER, pods: "db-0", container: "db" }),
  DeleteDataAll: moving({ backupArtifactPrefix: "bucket/shop", backupInfo: BACKUPS }),
  RestoreDataAll: {
    ...moving({ image: "tools", backupArtifactPrefix: "bucket/shop", backupInfo: BACKUPS }),
    on: "set",
  },
  BackupDataStats: moving({ backupArtifactPrefix: "bucket/shop", backupID: "1" }),
  CheckRepository: { args: () => ({ backupArtifactPrefix: "bucket/shop" }), state: "failed" },
  CopyVolumeData: moving({ volume: "data", dataArtifactPrefix: "bucket/shop" }),
  DeleteData: moving({ backupArtifactPrefix: "bucket/shop", backupID: "1" }),
  LocationDelete: { args: () => ({ artifact: "shop/a" }), state: "failed" },
  RestoreData: moving({
    image: "tools",
    backupArtifactPrefix: "bucket/shop",
    backupIdentifier: "1",
    volumes: { data: "/data" },
  }),
  CreateCSISnapshot: { args: (namespace) => ({ namespace, pvc: "data", snapshotClass: "csi" }) },
  CreateCSISnapshotStatic: {
    args: (namespace) => ({
      namespace,
      name: "imported",
      driver: "csi.example.com",
      snapshotHandle: "handle",
      snapshotClass: "csi",
    }),
  },
  DeleteCSISnapshot: { args: (namespace) => ({ namespace, name: "old" }) },
  DeleteCSISnapshotContent: { args: (namespace) => ({ name: namespace }) },
  KubeExec: { args: (namespace) => ({ namespace, pod: "db-0", command }) },
  KubeExecAll: { args: (namespace) => ({ namespace, pods: "db-0", containers: "db", command }) },
  KubeOps: {
    args: (namespace) => ({
      operation: "create",
      namespace,
      spec: "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}",
    }),
    named: ["create configmaps", "get configmaps"],
  },
  KubeTask: { args: () => ({ image: "busybox", command }) },
  MultiContainerRun: {
    args: () => ({
      backgroundImage: "busybox",
      backgroundCommand: command,
      outputImage: "busybox",
      outputCommand: command,
    }),
  },
  PrepareData: { args: (namespace) => ({ namespace, image: "busybox", command, volumes: { data: "/data" } }) },
  RestoreCSISnapshot: {
    args: (namespace) => ({ namespace, name: "old", pvc: "restored", storageClass: "none", restoreSize: "1Gi" }),
  },
  ScaleWorkload: { args: (namespace) => ({ namespace, name: "web", kind: "StatefulSet", replicas: 0 }) },
  Wait: waiting('{{ if eq "{ $.data.greeting }" "hello" }}true{{ end }}'),
  WaitV2: waiting('{{ eq .data.greeting "hello" }}'),
};

const VERBS: Readonly<Record<string, string>> = { mergePatch: "patch", strategicMergePatch: "patch" };

/** As a rule of RBAC. Undefined: all may do it; or a watch, without which it is asked again and again. */
const rightOf = (request: Request): string | undefined => {
  if (request.verb === "raw" || request.resource.isVirtual === true || request.purpose === "reflect") return undefined;
  const { verb, resource } = request;
  const subresource = "subresource" in request && request.subresource !== undefined ? `/${request.subresource}` : "";
  const group = resource.group === "" ? "" : `.${resource.group}`;
  return `${VERBS[verb] ?? verb} ${resource.plural}${subresource}${group}`;
};

const accountOf = (func: string): string => `of-${func.toLowerCase()}`;

const SNAPSHOTS = "snapshot.storage.k8s.io/v1";

/** What is there before: of the object of all actions, and what each works on. */
const existing = (): readonly Manifest[] => {
  const storage = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  return [
    secret("credentials", { word: "a word that is long enough" }),
    secret("s3-secret", { aws_access_key_id: "id", aws_secret_access_key: "key" }),
    {
      apiVersion: API_VERSION,
      kind: "Profile",
      metadata: { name: "s3" },
      location: { type: "s3Compliant", bucket: "bucket", endpoint: "http://127.0.0.1:9" },
      credential: { type: "keyPair", keyPair: { secret: { name: "s3-secret" } } },
    },
    { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec: storage },
    statefulSet("web", "db", 1),
    statefulSet("set", "db", 1),
    {
      apiVersion: SNAPSHOTS,
      kind: "VolumeSnapshot",
      metadata: { name: "old" },
      spec: { source: { persistentVolumeClaimName: "data" } },
    },
  ];
};

it("has each function", () => expect(functionNames.filter((name) => !Object.hasOwn(ROWS, name))).toEqual([]));

it("each function has the permissions that it says it needs, needs all of them, and no others", async () => {
  await serveSnapshots();
  const namespace = await prepared();
  const node = await nodeFor(namespace);
  onTestFinished(node.stop);
  const used = new Map<string, Set<string>>();
  const use = (user: string | undefined, right: string | undefined): void => {
    if (user === undefined || right === undefined) return;
    const name = user.slice(user.lastIndexOf(":") + 1);
    used.set(name, (used.get(name) ?? new Set()).add(right));
  };
  const streaming = {
    log: (...[request, signal]: Parameters<typeof client.log>) => {
      use(request.as?.user, "get pods/log");
      return client.log(request, signal);
    },
    exec: (...[request, signal]: Parameters<typeof client.exec>) => {
      for (const verb of ["get", "create"]) use(request.as?.user, `${verb} pods/exec`);
      return client.exec(request, signal);
    },
  };
  const send = (request: Request) => {
    use(request.as?.user, rightOf(request));
    return client.send(request);
  };
  for (const one of existing()) await administrator.create(within(namespace, one));
  await administrator.create({
    apiVersion: SNAPSHOTS,
    kind: "VolumeSnapshotContent",
    metadata: { name: namespace },
    spec: { volumeSnapshotRef: { namespace, name: "other" } },
  });
  await runningPod(namespace, "db-0", "db");
  await podsRun(namespace, "set-0");
  // Of the object of the actions, which is of no kind that a Blueprint can name.
  const object = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };
  await administrator.create(within(namespace, role("object", object)));

  const told = new Map<string, readonly string[]>();
  for (const [func, { args, named = [], on }] of Object.entries(ROWS)) {
    const name = accountOf(func);
    const action = {
      ...(on === undefined ? {} : { kind: "StatefulSet" }),
      secretNames: ["credentials"],
      phases: [{ func, name: "only", args: args(namespace), timeout: "60s" }],
    };
    const { manifests } = rolesOf(name, { do: action as Parameters<typeof rolesOf>[1][string] }, namespace);
    const rules = named.map((right) => {
      const [verb = "", resource = ""] = right.split(" ");
      return { apiGroups: [""], resources: [resource], verbs: [verb] };
    });
    const own = within(namespace, serviceAccount(name));
    await administrator.create(own);
    for (const manifest of manifests as unknown as readonly Manifest[]) {
      const isCluster = manifest.kind === "ClusterRole";
      const called = {
        ...manifest,
        metadata: { ...manifest.metadata, name: isCluster ? `${namespace}-${name}` : name },
      };
      await administrator.create(called);
      const to = roleBinding(name, isCluster ? "ClusterRole" : "Role", called.metadata.name, `${namespace}/${name}`);
      const bound = isCluster
        ? { ...to, kind: "ClusterRoleBinding", metadata: called.metadata }
        : within(namespace, to);
      await administrator.create(bound);
      if (isCluster)
        onTestFinished(async () => void (await Promise.all([called, bound].map((one) => administrator.remove(one)))));
    }
    await administrator.create(within(namespace, role(`${name}-named`, ...rules)));
    for (const other of [`${name}-named`, "object"])
      await administrator.create(
        within(namespace, { ...roleBinding(`${name}-${other}`, "Role", other, `${namespace}/${name}`) }),
      );
    told.set(name, [...rightsIn(rulesOf(manifests as unknown as readonly Manifest[])), ...named]);
    await administrator.create(within(namespace, blueprint(name, { do: action })));
  }
  onTestFinished(controllerOf({ ...client, ...streaming, send }, namespace).stop);
  for (const [func, { on }] of Object.entries(ROWS)) {
    const name = accountOf(func);
    const given = {
      secrets: { credentials: { name: "credentials", namespace: "" } },
      ...(on === undefined ? {} : { object: { kind: "statefulset", name: on, namespace } }),
      ...(functionOf(func)?.readsProfile === true ? { profile: { name: "s3" } } : {}),
    };
    const spec = { serviceAccountName: name, actions: [actionOn("do", name, given)] };
    await administrator.create(within(namespace, { ...actionSet(name), spec }));
  }

  const sets = async () =>
    (await administrator.list(actionSetRef(""), namespace)) as unknown as readonly ActionSetObject[];
  const unfinished = async (): Promise<readonly string[]> => {
    await snapshotterTurn(namespace);
    return (await sets()).filter((one) => !isOver(one)).map(({ metadata }) => metadata.name ?? "");
  };
  await expect.poll(unfinished, { interval: 500 }).toEqual([]);
  const ended = await sets();
  const outcomes = Object.fromEntries(
    ended.map(({ metadata, status }) => [
      metadata.name,
      `${status.state} ${/forbidden|may not/u.exec(status.error?.message ?? "")?.[0] ?? ""}`,
    ]),
  );
  expect(outcomes).toEqual(
    Object.fromEntries(Object.entries(ROWS).map(([func, { state = "complete" }]) => [accountOf(func), `${state} `])),
  );

  const differences = Object.fromEntries(
    [...told].map(([name, rights]) => {
      const own = used.get(name) ?? new Set();
      // What another request has made whose answer was lost is read.
      const isReread = (right: string): boolean =>
        right.startsWith("get ") && rights.includes(`create ${right.slice(4)}`);
      return [
        name,
        {
          untold: [...own].filter((right) => right !== "get configmaps" && !rights.includes(right)),
          unused: rights.filter((right) => !own.has(right) && !isReread(right)),
        },
      ];
    }),
  );
  expect(differences).toEqual(Object.fromEntries([...told.keys()].map((name) => [name, { untold: [], unused: [] }])));
});
