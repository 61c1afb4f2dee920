import { REQUEST_ROLLBACK } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { expect, it, onTestFinished, vi } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap, deployment, namespace, secret, service, within } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { namespaceName } from "../fixtures/namespaces.ts";

/** What the Deployment controller writes, whatever anybody else does. */
const REVISION = "deployment.kubernetes.io/revision";

/** An object as it must be again: all of it, owners of fields entry by entry, but its versions and what controllers report in its status. */
const essence = (object: KubeObject) => {
  const { status: _, metadata, ...rest } = object;
  const { resourceVersion: __, generation: ___, managedFields = [], annotations = {}, ...kept } = metadata;
  return {
    ...rest,
    metadata: {
      ...kept,
      annotations: Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== REVISION)),
      managedFields: managedFields
        .filter(({ manager }) => manager !== "kube-controller-manager")
        .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    },
  };
};

/** {@link essence} of an object that was created again. */
const recreated = (object: KubeObject) => {
  const { metadata, ...rest } = essence(object);
  const { uid: _, creationTimestamp: __, ...kept } = metadata;
  return { ...rest, metadata: kept };
};

it("restores a ConfigMap, a Deployment and a Secret exactly when the last change fails", async () => {
  const place = await workspace();
  const { create, apply, read, exists, names, run, janus } = place;
  const [config, web, key] = [configMap("app-config"), deployment("web-server", ""), secret("old-api-key")];
  await apply({ ...configMap("app-config", { version: "1.0", colour: "blue" }) });
  await apply(deployment("web-server", "myapp:v1.0"));
  await create({
    ...secret("old-api-key", { key: "k" }),
    type: "example.com/key",
    metadata: { name: "old-api-key", labels: { team: "a" }, annotations: { note: "n" } },
  });
  await allowOneService(place);
  // The controller of Deployments has done its part.
  await expect.poll(async () => (await read(web))["status"]).toMatchObject({ observedGeneration: 1, replicas: 1 });
  const before = { config: await read(config), web: await read(web), key: await read(key) };

  await janus();
  const txn = await run([
    patching(configMap("app-config", { version: "2.0", extra: "e" })),
    patching({
      ...web,
      spec: { replicas: 2, template: { spec: { containers: [{ name: "web", image: "myapp:v2.0" }] } } },
    }),
    deleting(key),
    creating(configMap("brand-new", { a: "1" })),
    ...oneTooMany,
  ]);

  expect(txn.status).toMatchObject({ phase: "RolledBack", progress: "0/6" });
  expect(essence(await read(config))).toEqual(essence(before.config));
  expect(essence(await read(web))).toEqual(essence(before.web));
  expect(recreated(await read(key))).toEqual(recreated(before.key));
  expect(await exists(configMap("brand-new"))).toBe(false);
  expect(await names("v1", "Service")).toEqual([]);
  expect(await names("coordination.k8s.io/v1", "Lease")).toEqual([]);
});

it("puts an updated object back exactly as it was", async () => {
  const place = await workspace();
  const { create, patch, read, run, janus } = place;
  const before = configMap("config", { a: "1", b: "1" });
  await create({ ...before, metadata: { name: "config", labels: { l: "1" }, finalizers: ["example.com/hold"] } });
  await patch({ ...configMap("config"), metadata: { name: "config", annotations: { n: "1" } } });
  await allowOneService(place);
  const former = await read(before);
  await janus();
  const { status } = await run([
    updating({ ...configMap("config", { a: "2", c: "2" }), metadata: { name: "config", labels: { l: "2" } } }),
    ...oneTooMany,
  ]);
  expect(status.phase).toBe("RolledBack");
  expect(essence(await read(before))).toEqual(essence(former));
  await patch({ ...before, metadata: { name: "config", finalizers: [] } });
});

it("reports what failed, and the outcome of every change", async () => {
  const place = await workspace();
  await place.create(configMap("config", { a: "1" }));
  await allowOneService(place);
  await place.janus();
  const { status } = await place.run([
    patching(configMap("config", { a: "2" })),
    ...oneTooMany,
    creating(configMap("never-reached")),
  ]);
  expect(status.items).toMatchObject([
    { prepared: true, committed: true, rolledBack: true },
    { prepared: true, committed: true, rolledBack: true },
    { prepared: true, committed: false, rolledBack: true, error: expect.stringContaining("exceeded quota") as string },
    { prepared: true, committed: false, rolledBack: false },
  ]);
  expect(status.items[3]).not.toHaveProperty("error");
});

it("ends as RolledBack: Ready is False and Stalled is True, so that those who wait see a failure", async () => {
  const place = await workspace();
  await allowOneService(place);
  await place.janus();
  const txn = await place.run([creating(configMap("config")), ...oneTooMany]);
  const conditions = Object.fromEntries(txn.status.conditions.map(({ type, status }) => [type, status]));
  expect(conditions).toEqual({
    Ready: "False",
    Stalled: "True",
    Prepared: "True",
    Committed: "False",
    RolledBack: "True",
    Failed: "False",
  });
  const message = txn.status.conditions.find(({ type }) => type === "RolledBack")?.message;
  expect(message).toMatch(/^every target is as it was before; rolled back because: .*Service .*exceeded quota/);
  expect(txn.metadata.finalizers ?? []).toEqual([]);
});

it("keeps the snapshots of what was rolled back, for a look, until the Transaction is deleted", async () => {
  const place = await workspace();
  const { create, read, names, remove } = place;
  await create(configMap("config", { a: "1" }), secret("key", { k: "s3cret" }));
  await allowOneService(place);
  await place.janus();
  const txn = await place.run([
    patching(configMap("config", { a: "2" })),
    patching(secret("key", { k: "other" })),
    ...oneTooMany,
  ]);
  expect(txn.status.snapshots.map(({ kind }) => kind)).toEqual(["ConfigMap", "Secret"]);
  expect(txn.status.rollbackRef).toBe("txn-rollback");
  for (const { kind, name } of txn.status.snapshots) {
    const { metadata } = await read({ apiVersion: "v1", kind, metadata: { name } });
    expect(metadata.ownerReferences).toMatchObject([{ kind: "Transaction", name: "txn", uid: txn.metadata.uid }]);
    expect(metadata.finalizers ?? []).toEqual([]);
    expect(metadata.labels).toMatchObject({ "app.kubernetes.io/managed-by": "janus", "janus.io/transaction": "txn" });
  }
  await remove(transaction("txn"));
  // The garbage collector looks for new kinds, such as ours, every 30 s.
  await expect.poll(() => names("v1", "Secret")).toEqual(["key"]);
  await expect.poll(() => names("v1", "ConfigMap")).not.toContain("txn-rollback");
});

it("deletes on rollback only the object that it created itself", async () => {
  const place = await workspace();
  const { create, read, remove, run, janus } = place;
  await allowOneService(place);
  // Somebody deletes what the Transaction has created, and creates another one of the same name.
  await janus(async (request, next) => {
    if (isChangeOf("one-too-many")(request)) {
      await remove(configMap("contested"));
      await create(configMap("contested", { whose: "somebody's" }));
    }
    return next(request);
  });
  const { status } = await run([creating(configMap("contested", { whose: "ours" })), ...oneTooMany]);
  expect(status).toMatchObject({
    phase: "Failed",
    items: [{ error: expect.stringContaining("left unchanged") as string }, {}, {}],
  });
  expect(await read(configMap("contested"))).toMatchObject({ data: { whose: "somebody's" } });
});

const second = (): number => Math.floor(Date.now() / 1000);

it("keeps on rollback what other clients have changed since, in other fields", async () => {
  const place = await workspace();
  const { create, patch, read, run, janus } = place;
  await create(configMap("config", { ours: "1", theirs: "1" }));
  // By the same manager, who has written last in an earlier second than the Transaction: times are whole seconds.
  const created = second();
  await expect.poll(second).toBeGreaterThan(created);
  await allowOneService(place);
  await janus(async (request, next) => {
    if (isChangeOf("one-too-many")(request)) await patch(configMap("config", { theirs: "2" }));
    return next(request);
  });
  const { status } = await run([patching(configMap("config", { ours: "2" })), ...oneTooMany]);
  expect(status.phase).toBe("RolledBack");
  expect(await read(configMap("config"))).toMatchObject({ data: { ours: "1", theirs: "2" } });
});

it("keeps a field that another client has taken over since, reports it, and ends as Failed", async () => {
  const place = await workspace();
  const { create, patch, read, run, janus } = place;
  await create(configMap("config", { contested: "1", ours: "1" }));
  await allowOneService(place);
  await janus(async (request, next) => {
    if (isChangeOf("one-too-many")(request)) await patch(configMap("config", { contested: "3" }));
    return next(request);
  });
  const { status } = await run([patching(configMap("config", { contested: "2", ours: "2" })), ...oneTooMany]);
  expect(status).toMatchObject({
    phase: "Failed",
    items: [
      { committed: true, rolledBack: false, error: expect.stringContaining(".data.contested") as string },
      {},
      {},
    ],
  });
  expect(await read(configMap("config"))).toMatchObject({ data: { contested: "3", ours: "1" } });
});

it("restores the address and ports of a Service that it deleted", async () => {
  const place = await workspace();
  const former = { ...service("web"), spec: { type: "NodePort", ports: [{ port: 80 }] } };
  await place.create(former);
  const before = await place.read(former);
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last", { whose: "somebody's" }));
    return next(request);
  });
  const { status } = await place.run([deleting(former), creating(configMap("last"))]);
  expect(status.phase).toBe("RolledBack");
  expect(recreated(await place.read(former))).toEqual(recreated(before));
});

it("deletes a created Namespace and CustomResourceDefinition, with the objects that it created in them", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const [inside, crd] = [namespaceName(), gadgets(place.namespace)];
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last", { whose: "somebody's" }));
    return next(request);
  });
  const { status } = await place.run([
    creating(namespace(inside)),
    creating(within(inside, configMap("config"))),
    creating(crd),
    creating(within(inside, gadget(place.namespace))),
    creating(configMap("last")),
  ]);
  expect(status.phase).toBe("RolledBack");
  expect(await administrator.read(namespace(inside))).toBeUndefined();
  expect(await administrator.read(crd)).toBeUndefined();
});

it("rolls back more than one object could hold", async () => {
  const place = await workspace();
  await allowOneService(place);
  const text = "a line of text, äöü and 😀\n".repeat(20_000);
  const names = ["a", "b", "c"];
  await place.create(...names.map((name) => configMap(name, { text, small: "1" })));
  const before = await Promise.all(names.map((name) => place.read(configMap(name))));
  await place.janus();
  const { status } = await place.run([...names.map((name) => deleting(configMap(name))), ...oneTooMany]);
  expect(status.phase).toBe("RolledBack");
  expect(status.snapshots.map(({ name }) => name)).toEqual(["txn-rollback", "txn-rollback-1", "txn-rollback-2"]);
  const after = await Promise.all(names.map((name) => place.read(configMap(name))));
  expect(after.map(recreated)).toEqual(before.map(recreated));
});

it("rolls back what a policy of its own denies, which an API server applies for some time after it was deleted", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const [kept, gone] = [configMap("kept", { a: "1" }), configMap("gone", { a: "1" })];
  await place.create(kept, gone);
  const [apiVersion, metadata] = ["admissionregistration.k8s.io/v1", { name: place.namespace }];
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] };
  const policy = {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata,
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": place.namespace } },
        resourceRules: [{ ...rule, resourceNames: ["kept", "gone"] }],
      },
      validations: [{ expression: "false", message: "not these" }],
    },
  };
  const spec = { policyName: place.namespace, validationActions: ["Deny"] };
  const binding = { apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata, spec };
  const isDenied = () =>
    place.patch(configMap("kept", { b: "1" })).then(
      () => false,
      () => true,
    );
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) {
      await vi.waitUntil(isDenied, { timeout: 300_000, interval: 200 });
      await place.create(configMap("last"));
    }
    return next(request);
  });
  const { status } = await place.run([
    patching(configMap("kept", { a: "2" })),
    deleting(gone),
    creating(policy),
    creating(binding),
    creating(configMap("last")),
  ]);
  expect(status.items.slice(0, 4).map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
  expect(status.phase).toBe("RolledBack");
  expect(await place.read(kept)).toMatchObject({ data: { a: "1" } });
  expect(await place.read(gone)).toMatchObject({ data: { a: "1" } });
});

it("creates a custom resource again under the schema that it had, which an earlier change has narrowed", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const narrow = (...names: readonly string[]) => {
    const properties = Object.fromEntries(names.map((name) => [name, { type: "integer" }]));
    return gadgets(place.namespace, { schema: { openAPIV3Schema: { type: "object", properties } } });
  };
  await administrator.create(narrow("size", "depth"));
  onTestFinished(() => administrator.remove(narrow()));
  const one = { ...gadget(place.namespace), depth: 4 };
  await expect.poll(() => place.create(one)).toBeDefined();
  await place.janus();
  await place.submit([updating(narrow("size")), deleting(one)], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  const annotations = { [REQUEST_ROLLBACK]: "yes" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  const { items } = (await place.over()).status;
  expect(items.map(({ error }) => error)).toEqual([undefined, undefined]);
  expect(await place.read(one)).toMatchObject({ size: 3, depth: 4 });
});

const web = (spec: object, metadata: object = {}): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { ...metadata, name: "web" },
  spec,
});

const balanced = { type: "LoadBalancer", ports: [{ name: "http", port: 80 }], selector: { app: "web" } };

it.each<readonly [string, WrittenChange, object]>([
  ["a Patch of one field", patching(web({ sessionAffinity: "ClientIP" })), { sessionAffinity: "None" }],
  ["an Apply of all, with a label", applying(web(balanced, { labels: { release: "2" } })), {}],
])(
  "leaves away what went with a field that others have changed since, if the API server rejects it: %s",
  async (_, change, spec) => {
    const place = await workspace();
    await place.apply(web(balanced));
    await place.janus();
    await place.submit([change], { rollbackWindow: "1h" });
    await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
    // With that, its node ports and traffic policy go.
    await place.apply(web({ ...balanced, type: "ClusterIP" }));
    await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "yes" } } });
    expect((await place.over()).status).toMatchObject({
      phase: "RolledBack",
      items: [{ error: expect.stringMatching(/nodePort was \d+, now none$/) as string }],
    });
    const live = await place.read(web({}));
    expect(live).toMatchObject({ spec: { type: "ClusterIP", ...spec } });
    expect(live.metadata.labels).toBeUndefined();
  },
);

/** Paused: no controller writes it. */
const pausedDeployment = (replicas: number | undefined, podSpec: object): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas,
    paused: true,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: podSpec },
  },
});
const container = { name: "web", image: "web:1" };
const side = { name: "side", image: "side:1" };
const [former, later] = [{ emptyDir: {} }, { configMap: { name: "data" } }].map((type) => ({
  containers: [container],
  volumes: [{ name: "data", ...type }],
})) as [object, object];

it.each<readonly [what: string, WrittenChange, theirs: object, result: object, field: string]>([
  [
    "a field of a container that it added",
    patching(pausedDeployment(2, { containers: [container, side] })),
    { containers: [{ name: "side", tty: true }] },
    { containers: [container, { ...side, tty: true }] },
    'containers[name="side"]',
  ],
  ["the other type of a volume, too", updating(pausedDeployment(2, later)), later, later, 'volumes[name="data"]'],
])(
  "restores all else where the API server rejects what would be left beside what others have set: %s",
  async (_, change, theirs, result, field) => {
    const place = await workspace();
    await place.create(pausedDeployment(1, former));
    await place.janus();
    await place.submit([change], { rollbackWindow: "1h" });
    await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
    await place.apply(pausedDeployment(undefined, theirs));
    await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "yes" } } });
    expect((await place.over()).status).toMatchObject({
      phase: "Failed",
      items: [{ error: expect.stringContaining(`.spec.template.spec.${field} was modified by`) as string }],
    });
    expect(await place.read(pausedDeployment(1, {}))).toMatchObject({
      spec: { replicas: 1, template: { spec: result } },
    });
  },
);
