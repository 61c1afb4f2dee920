import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { collected, COLLECTED_WITHIN } from "../fixtures/collected.ts";
import { eventsOf } from "../fixtures/events.ts";
import { contentsSecret } from "../fixtures/contents.ts";
import { configMap, deployment, secret, service } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { janus, janusWith } from "./command-line.ts";

const VALUE = "hunter2-and-more";
const SAYINGS: readonly string[] = [VALUE, Buffer.from(VALUE).toString("base64")];

const yaml = (...manifests: readonly Manifest[]): string => manifests.map((one) => JSON.stringify(one)).join("\n---\n");

const contentsOf = (names: readonly string[], name = "txn"): readonly string[] =>
  names.filter((one) => one.startsWith(`${name}-contents-`));

it(
  "leaves no value of a Secret where those who may read Transactions can read it",
  async () => {
    const place = await workspace();
    const { namespace } = place;
    const { log } = await place.janus();
    const on = ["-n", namespace, "--service-account", "deployer", "--name", "txn"];
    const manifests = yaml(configMap("config", { a: "1" }), { ...secret("key"), stringData: { token: VALUE } });
    const planned = await janusWith(manifests, "plan", "-f", "-", ...on);
    const applied = await janusWith(manifests, "apply", "-f", "-", ...on, "-o", "json");
    expect([planned.code, applied.code, planned.stderr, applied.stderr]).toEqual([1, 0, "", ""]);
    await place.over();
    const shown = [
      planned.stdout,
      applied.stdout,
      ...(await Promise.all(
        [["explain", "txn"], ["describe", "txn"], ["history"], ["get", "-o", "yaml"]].map(async (args) => {
          const { stdout, stderr } = await janus(...args, "-n", namespace);
          expect(stderr).toBe("");
          return stdout;
        }),
      )),
      ...log,
      JSON.stringify(await place.txn()),
      JSON.stringify(await eventsOf(namespace, "txn")),
      ...(await Promise.all(
        ["ConfigMap", "Lease", "ServiceAccount"].map(async (kind) =>
          JSON.stringify(
            await administrator.list(
              { apiVersion: kind === "Lease" ? "coordination.k8s.io/v1" : "v1", kind },
              namespace,
            ),
          ),
        ),
      )),
    ].join("\n");
    for (const value of SAYINGS) expect(shown).not.toContain(value);
    expect((await place.read(secret("key")))["data"]).toEqual({ token: SAYINGS[1] });
    const [name = "", ...others] = contentsOf(await place.names("v1", "Secret"));
    expect(others).toEqual([]);
    expect(await place.read(secret(name))).toMatchObject({
      immutable: true,
      metadata: { ownerReferences: [{ kind: "Transaction", name: "txn" }] },
      data: { salt: expect.any(String) as string },
    });
    await place.remove(transaction("txn"));
    await collected(place, secret(name));
    expect(await place.exists(secret("key"))).toBe(true);
  },
  COLLECTED_WITHIN,
);

it.each([
  ["another kind", configMap("app", { former: `${VALUE}-1`, label: "a" }), { data: { former: VALUE, list: "new" } }],
  [
    "a list",
    deployment("app", "web:v1"),
    { spec: { template: { spec: { containers: [{ name: "web", args: [VALUE, "new"] }] } } } },
  ],
  ["the labels of a Secret", secret("app"), { metadata: { labels: { token: VALUE } } }],
])("shows in a plan which fields a content in a Secret changes, and no value: %s", async (_, target, content) => {
  const place = await workspace();
  await place.create(target, contentsSecret("contents", { app: content }));
  const { apiVersion, kind } = target;
  const manifest = {
    ...transaction("txn"),
    spec: {
      serviceAccountName: "deployer",
      changes: [
        {
          type: "Patch",
          target: { apiVersion, kind, name: "app" },
          contentFrom: { secretKeyRef: { name: "contents", key: "app" } },
        },
      ],
    },
  };
  const { stdout, stderr, code } = await janusWith(JSON.stringify(manifest), "plan", "-f", "-", "-n", place.namespace);
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout).toMatch(/^\+ .*"\*\*\*/mu);
  for (const value of SAYINGS) expect(stdout).not.toContain(value);
});

const withToken = (token: string): string => yaml({ ...secret("key"), stringData: { token } });

it("keeps the values of a Draft out of its spec, too, also of one that is edited", async () => {
  const place = await workspace();
  await place.janus();
  const on = ["-n", place.namespace, "--service-account", "deployer", "--name", "txn"];
  expect((await janusWith(withToken(VALUE), "plan", "--draft", "-f", "-", ...on)).code).toBe(1);
  expect(JSON.stringify(await place.txn())).not.toContain(VALUE);
  const { stdout } = await janusWith(withToken("another-value"), "plan", "-f", "-", ...on, "-o", "yaml");
  const edited = await janusWith(stdout, "edit", "txn", "-n", place.namespace, "-f", "-");
  expect([edited.code, edited.stderr]).toEqual([0, ""]);
  expect(JSON.stringify(await place.txn())).not.toContain("another-value");
  await place.patch({ ...transaction("txn"), spec: { lifecycle: "Published" } });
  expect((await place.over()).status.phase).toBe("Committed");
  expect((await place.read(secret("key")))["data"]).toEqual({ token: Buffer.from("another-value").toString("base64") });
  expect(contentsOf(await place.names("v1", "Secret"))).toHaveLength(2);
});

it("says so, and creates nothing, where the ServiceAccount may not read what contents are kept in", async () => {
  const place = await workspace();
  await place.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "weak" } });
  const rules = ["get", "create", "patch", "update", "delete"];
  await place.create(
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "weak" },
      rules: [
        { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
        { apiGroups: [""], resources: ["secrets"], resourceNames: ["key"], verbs: rules },
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "weak" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "weak" },
      subjects: [{ kind: "ServiceAccount", name: "weak", namespace: place.namespace }],
    },
  );
  const apply = () =>
    janusWith(yaml(secret("key", { a: "1" })), "apply", "-f", "-", "-n", place.namespace, "--service-account", "weak");
  await expect
    .poll(async () => (await apply()).stderr)
    .toContain(
      `ServiceAccount weak may not read Secrets in namespace ${place.namespace}, and contents of the Transaction are kept in one: grant it the verb get on secrets in namespace ${place.namespace}`,
    );
  expect(await place.names("backup.janus.io/v1alpha1", "Transaction")).toEqual([]);
  expect(contentsOf(await place.names("v1", "Secret"))).toEqual([]);
});

/** What a monitoring stack installs: many small objects, and dashboards and definitions of hundreds of KB; in all 2.4 MiB. */
const stack: readonly Manifest[] = [
  ...Array.from({ length: 30 }, (_, n) =>
    configMap(`dashboard-${n}`, { "dashboard.json": JSON.stringify({ panels: `${n} `.padEnd(80_000, "ab ") }) }),
  ),
  ...Array.from({ length: 91 }, (_, n) => configMap(`rules-${n}`, { "rules.yaml": `${n} `.padEnd(1_500, "x") })),
  ...Array.from({ length: 5 }, (_, n) => deployment(`web-${n}`, "web:v1")),
  ...Array.from({ length: 5 }, (_, n) => service(`web-${n}`)),
];

it("applies a set of 131 objects of 2.4 MiB", async () => {
  const place = await workspace();
  await place.janus();
  expect(stack).toHaveLength(131);
  const text = yaml(...stack);
  expect(text.length).toBeGreaterThan(2.4 * 2 ** 20);
  const applied = await janusWith(
    text,
    "apply",
    "-f",
    "-",
    "-n",
    place.namespace,
    "--service-account",
    "deployer",
    "--name",
    "txn",
  );
  expect([applied.code, applied.stderr]).toEqual([0, ""]);
  expect((await place.txn()).status).toMatchObject({ phase: "Committed", progress: "131/131" });
  for (const object of stack.slice(0, 3)) expect((await place.read(object))["data"]).toEqual(object["data"]);
  // Only as many as there was no room for.
  const { changes } = (await place.txn()).spec;
  expect(changes.filter(({ content }) => content !== undefined).length).toBeGreaterThan(90);
});

const definition = (letter: string, group: string): Manifest => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `big${letter}s.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: `big${letter}s`, singular: `big${letter}`, kind: `Big${letter.toUpperCase()}` },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", description: "x".repeat(200_000) } },
      },
    ],
  },
});

it("applies twelve definitions of 200 KB, with an object of one of them, and rolls them back", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.janus();
  const group = `${place.namespace}.example.org`;
  const all = Array.from({ length: 12 }, (_, n) => definition(String.fromCodePoint(97 + n), group));
  onTestFinished(async () => {
    for (const one of all) await administrator.remove(one);
  });
  const object: Manifest = {
    apiVersion: `${group}/v1`,
    kind: "BigA",
    metadata: { name: "one", namespace: place.namespace },
  };
  const on = ["-n", place.namespace, "--service-account", "deployer", "--name", "txn", "--rollback-window", "1h"];
  const applied = await janusWith(yaml(...all, object), "apply", "-f", "-", ...on);
  expect([applied.code, applied.stderr]).toEqual([0, ""]);
  expect(await place.exists(object)).toBe(true);
  const rolledBack = await janus("rollback", "txn", "-n", place.namespace);
  expect(rolledBack.stderr).toBe("");
  expect((await place.txn()).status.phase).toBe("RolledBack");
  for (const one of all) expect(await place.exists(one)).toBe(false);
});
