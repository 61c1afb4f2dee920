import type { KubeObject } from "@janus/kube";
import { LAST_APPLIED } from "@janus/types";
import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { applying, creating, patching } from "../fixtures/changes.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";
import { policy } from "../restore/policy.ts";

type Fields = Readonly<Record<string, unknown>>;

const deployment = (podSpec: Fields, more: Fields = {}): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "app" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "app" } },
    template: { metadata: { labels: { app: "app" } }, spec: podSpec },
    ...more,
  },
});

const service = (labels: Fields | undefined, ...ports: readonly Fields[]): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", ...(labels === undefined ? {} : { labels }) },
  spec: { selector: { app: "web" }, ports },
});

const image = "registry.k8s.io/pause:3.10";
const container = (more: Fields = {}) => ({ name: "app", image, ...more });

/** Two manifests of the same object, applied one after the other. */
const CASES: readonly (readonly [what: string, first: Manifest, second: Manifest])[] = [
  [
    "the number of a port, and all labels",
    service({ debug: "on" }, { name: "http", port: 80, targetPort: 8080 }),
    service(undefined, { name: "http", port: 8000, targetPort: 9090 }),
  ],
  [
    "a container, an environment variable, another type of a probe and of a value",
    deployment({
      containers: [
        container({
          livenessProbe: { httpGet: { path: "/", port: 80 } },
          env: [
            { name: "PASSWORD", value: "plain" },
            { name: "DEBUG_TOKEN", value: "1" },
          ],
        }),
        { name: "sidecar", image },
      ],
    }),
    deployment({
      containers: [
        container({
          livenessProbe: { exec: { command: ["true"] } },
          env: [{ name: "PASSWORD", valueFrom: { secretKeyRef: { name: "db", key: "password" } } }],
        }),
      ],
    }),
  ],
  [
    "the name of a container",
    deployment({ containers: [{ name: "web", image }] }),
    deployment({ containers: [container()] }),
  ],
  [
    "another type of a volume, another strategy, and the order of init containers",
    deployment(
      {
        initContainers: [
          { name: "one", image },
          { name: "two", image },
          { name: "three", image },
        ],
        containers: [container({ volumeMounts: [{ name: "v", mountPath: "/a" }] })],
        volumes: [{ name: "v", emptyDir: {} }],
      },
      { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 2 } } },
    ),
    deployment(
      {
        initContainers: [
          { name: "three", image },
          { name: "four", image },
          { name: "one", image },
        ],
        containers: [container({ volumeMounts: [{ name: "v", mountPath: "/b" }] })],
        volumes: [{ name: "v", configMap: { name: "c" } }],
      },
      { strategy: { type: "Recreate" } },
    ),
  ],
  [
    "keys of data, annotations and finalizers",
    {
      ...configMap("config", { a: "1", b: "1" }),
      metadata: {
        name: "config",
        annotations: { note: "n", other: "o" },
        finalizers: ["example.com/a", "example.com/b"],
      },
    },
    {
      ...configMap("config", { b: "2", c: "3" }),
      metadata: { name: "config", annotations: { other: "o" }, finalizers: ["example.com/b"] },
    },
  ],
  [
    "what is empty now",
    deployment({ containers: [container({ args: ["a"] })], nodeSelector: { a: "b" }, dnsConfig: { searches: ["x"] } }),
    deployment({ containers: [container({ args: [] })], nodeSelector: {} }),
  ],
  [
    "everything",
    configMap("config", { a: "1" }),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "config" } },
  ],
];

const identity = ({ apiVersion, kind, metadata: { name } }: Manifest): Manifest => ({
  apiVersion,
  kind,
  metadata: { name },
});

/** What an object says: without what the API server, or a controller, writes about it. */
const said = ({ metadata: { labels, annotations = {}, finalizers }, ...object }: KubeObject) => {
  const { status: _, ...rest } = object;
  const { ["deployment.kubernetes.io/revision"]: __, ...notes } = annotations;
  const spec = { ...(rest["spec"] as Fields | undefined) };
  for (const allocated of ["clusterIP", "clusterIPs"]) delete (spec as Record<string, unknown>)[allocated];
  return { ...rest, spec, metadata: { labels, notes, finalizers } };
};

/** The entries of those who have set what a user sets. */
const owners = ({ metadata: { managedFields = [] } }: KubeObject) =>
  managedFields.filter(({ manager }) => manager !== "kube-controller-manager");

/** The object but for its version, and what controllers report. */
const essence = (object: KubeObject) => ({ ...said(object), owners: owners(object) });

const committed = (txn: Txn) => expect(txn.status).toMatchObject({ phase: "Committed" });

const applies = async ({ run }: Workspace, name: string, manifest: Manifest): Promise<void> => {
  committed(await run([applying(manifest)], { name }));
};

it.each(CASES)("removes what the manifest leaves out, as a server-side apply does: %s", async (_, first, second) => {
  const [place, reference] = [await workspace(), await workspace()];
  await reference.apply(first);
  await reference.apply(second);
  const wanted = said(await reference.read(second));
  await place.janus();
  await applies(place, "first", first);
  expect(said(await place.read(first))).not.toEqual(wanted);
  await applies(place, "second", second);
  expect(said(await place.read(second))).toEqual(wanted);
  // Back and forth: the writes after the first are of another kind, and forget nothing either.
  await applies(place, "third", first);
  await applies(place, "fourth", second);
  expect(said(await place.read(second))).toEqual(wanted);
  expect(owners(await place.read(second)).map(({ manager }) => manager)).toEqual([
    expect.stringMatching(/^janus-apply:fourth-/u),
  ]);
});

const kubectlApplies = async (
  { namespace }: Workspace,
  { metadata, ...rest }: Manifest,
  ...flags: readonly string[]
): Promise<void> => {
  const stdin = JSON.stringify({ ...rest, metadata: { ...metadata, namespace } });
  const { code, stderr } = await kubectlWith({ stdin }, "apply", ...flags, "-f", "-");
  expect(code, stderr).toBe(0);
};

/** Without the note that kubectl makes of what it has applied. */
const withoutNote = (object: KubeObject) => {
  const { metadata, ...rest } = said(object);
  const { [LAST_APPLIED]: _, ...notes } = metadata.notes;
  return { ...rest, metadata: { ...metadata, notes } };
};

it.each(
  CASES.flatMap(([what, first, second]) => [
    [`kubectl apply has set, as another kubectl apply does: ${what}`, first, second, []] as const,
    [`kubectl apply --server-side has set: ${what}`, first, second, ["--server-side"]] as const,
  ]),
)("removes what %s", async (_, first, second, flags) => {
  const [place, reference] = [await workspace(), await workspace()];
  await kubectlApplies(reference, first, ...flags);
  await kubectlApplies(reference, second, ...flags);
  const wanted = withoutNote(await reference.read(second));
  await kubectlApplies(place, first, ...flags);
  await place.janus();
  const before = await place.read(first);
  const failed = await place.run([applying(second), fails], { name: "fails" });
  expect(failed.status).toMatchObject({ phase: "RolledBack" });
  expect(essence(await place.read(first))).toEqual(essence(before));
  await applies(place, "second", second);
  expect(withoutNote(await place.read(second))).toEqual(wanted);
  await kubectlApplies(place, second, ...flags);
  expect(withoutNote(await place.read(second))).toEqual(wanted);
});

/** Its gate is not met: all is rolled back. */
const fails = { ...creating(configMap("never")), waitFor: ["jsonpath={.data.never}=x"], waitTimeout: "1s" };

it.each(CASES)("brings back exactly what an Apply has removed: %s", async (_, first, second) => {
  const place = await workspace();
  await place.janus();
  await applies(place, "first", first);
  await place.run([patching({ ...identity(first), metadata: { ...first.metadata, labels: { team: "a" } } })]);
  for (const [at, [is, next]] of [[first, second] as const, [second, first] as const].entries()) {
    const before = await place.read(is);
    const txn = await place.run([applying(next), fails], { name: `fails-${at}` });
    expect(txn.status).toMatchObject({ phase: "RolledBack" });
    expect(essence(await place.read(is))).toEqual(essence(before));
    await applies(place, `second-${at}`, next);
  }
});

const config = (data: Readonly<Record<string, string>>) => configMap("config", data);
const dataOf = async ({ read }: Workspace) => (await read(config({})))["data"];

it("removes nothing that another manager has set, too, nor what a Patch, a Create or an Update has set", async () => {
  const place = await workspace();
  await place.janus();
  committed(await place.run([creating(config({ created: "1" }))], { name: "created" }));
  await applies(place, "first", config({ shared: "1", mine: "1", patched: "1" }));
  await place.apply(config({ shared: "1" }));
  committed(await place.run([patching(config({ patched: "2", added: "1" }))], { name: "patch" }));
  await applies(place, "second", config({ own: "1" }));
  expect(await dataOf(place)).toEqual({ created: "1", shared: "1", patched: "2", added: "1", own: "1" });
  await applies(place, "third", config({ other: "1" }));
  expect(await dataOf(place)).toEqual({ created: "1", shared: "1", patched: "2", added: "1", other: "1" });
});

it("leaves no entry of an Apply once another tool has taken over all of its fields by force", async () => {
  const place = await workspace();
  await place.janus();
  await place.apply(config({ a: "1", b: "1" }));
  await applies(place, "first", config({ a: "2", b: "2", c: "2" }));
  await applies(place, "second", config({ a: "3", b: "3" }));
  await place.apply(config({ a: "1", b: "1" }));
  expect(await dataOf(place)).toEqual({ a: "1", b: "1" });
  expect(owners(await place.read(config({}))).map(({ manager }) => manager)).toEqual(["installer"]);
});

it("shows in the render of a Draft what it removes", async () => {
  const place = await workspace();
  await place.janus();
  await applies(place, "first", config({ a: "1", old: "1" }));
  await place.submit([applying(config({ a: "1" }))], { name: "draft", lifecycle: "Draft" });
  const diff = async () => (await place.txn("draft")).status as { readonly render?: unknown };
  await expect
    .poll(async () => (await diff()).render)
    .toMatchObject({ changes: [{ result: "Change", diff: [{ path: ".data.old", before: '"1"' }] }] });
});

it.each([
  ["keeps what others have taken over", config({ old: "theirs" }), { a: "2", old: "theirs" }],
  ["keeps what others have added", config({ added: "1" }), { a: "2", added: "1" }],
])("writes to an object that has moved meanwhile what it would have written to that, and %s", async (_, edit, data) => {
  const place = await workspace();
  const applied = await place.janus();
  await applies(place, "first", config({ a: "1", old: "1" }));
  await applied.stop();
  let isDone = false;
  await place.janus(async (request, next) => {
    if (!isDone && isChangeOf("config")(request)) {
      isDone = true;
      await place.patch(edit);
    }
    return next(request);
  });
  const failed = await place.run([applying(config({ a: "2" })), fails], { name: "fails" });
  expect(failed.status).toMatchObject({ phase: "RolledBack" });
  expect(await dataOf(place)).toEqual({ a: "1", old: "1", ...(edit["data"] as object) });
  isDone = false;
  await applies(place, "second", config({ a: "2" }));
  expect(await dataOf(place)).toEqual(data);
});

const chartSecret = (stringData: Fields): Manifest => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "app" },
  data: null,
  stringData,
});

it("removes what an Apply of a Secret leaves out of stringData, also where an empty data is null, as charts render it", async () => {
  const place = await workspace();
  await place.janus();
  await applies(place, "first", chartSecret({ a: "1", old: "1" }));
  await applies(place, "second", chartSecret({ a: "2" }));
  expect((await place.read(chartSecret({})))["data"]).toEqual({ a: btoa("2") });
});

it("keeps annotations that nobody manages, as admission sets them at the creation", async () => {
  const place = await workspace();
  await policy(place.namespace, `metadata: Object.metadata{annotations: {"touched": "yes"}}`, "CREATE");
  await place.janus();
  let count = 0;
  const notes = async () => {
    count += 1;
    await applies(place, `creates-${count}`, configMap(`app-${count}`, { a: "1", old: "1" }));
    return (await place.read(configMap(`app-${count}`))).metadata.annotations;
  };
  await expect.poll(notes).toEqual({ touched: "yes" });
  await applies(place, "second", configMap(`app-${count}`, { a: "1" }));
  const { data, metadata } = await place.read(configMap(`app-${count}`));
  expect([data, metadata.annotations]).toEqual([{ a: "1" }, { touched: "yes" }]);
});

const env = (...values: readonly string[]): Manifest =>
  deployment(
    { containers: [container({ env: values.map((value) => ({ name: "A", value })) })] },
    values.length > 1 ? { minReadySeconds: 5 } : {},
  );

it("leaves one item where kubectl apply has made two of one name, and brings both back", async () => {
  const place = await workspace();
  await kubectlApplies(place, env("1", "2"));
  await place.janus();
  const before = await place.read(env());
  const failed = await place.run([applying(env("3")), fails], { name: "fails" });
  expect(failed.status).toMatchObject({ phase: "RolledBack" });
  expect(essence(await place.read(env()))).toEqual(essence(before));
  await applies(place, "second", env("3"));
  expect(said(await place.read(env())).spec).toMatchObject(env("3")["spec"] as Fields);
});
