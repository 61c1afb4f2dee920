import { expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  deployment,
  lease,
  namespace,
  role,
  roleBinding,
  secret,
  serviceAccount,
  within,
} from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { CONTROLLER_NAMESPACE, workspace } from "../fixtures/workspace.ts";
import { namespaceName } from "../fixtures/namespaces.ts";

it("makes changes of all four types, in the order of the list", async () => {
  const { create, read, exists, run, janus } = await workspace();
  await create(
    configMap("updated", { a: "1", b: "1" }),
    configMap("patched", { a: "1", b: "1" }),
    configMap("deleted"),
  );
  const { hook, requests } = recording();
  const { log } = await janus(hook);
  const { status } = await run([
    creating(configMap("created", { a: "1" })),
    updating(configMap("updated", { a: "2" })),
    deleting(configMap("deleted")),
    patching(configMap("patched", { a: "2" })),
  ]);
  expect(status).toMatchObject({ phase: "Committed", progress: "4/4", snapshots: [] });
  // They are deleted.
  expect(JSON.stringify(status)).not.toMatch(/rollbackRef|"snapshot":|"journal":/);
  expect((await read(configMap("created")))["data"]).toEqual({ a: "1" });
  expect((await read(configMap("updated")))["data"]).toEqual({ a: "2" });
  expect((await read(configMap("patched")))["data"]).toEqual({ a: "2", b: "1" });
  expect(await exists(configMap("deleted"))).toBe(false);
  const changes = requests.filter(({ purpose }) => purpose === "change").map(({ verb }) => verb);
  expect(changes).toEqual(["create", "update", "delete", "apply"]);
  expect(log.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
});

it("patches with an Apply what exists, and creates what does not", async () => {
  const { create, read, run, janus } = await workspace();
  await create(configMap("there", { a: "1", b: "1" }));
  await janus();
  const { status } = await run([applying(configMap("there", { a: "2" })), applying(configMap("fresh", { a: "2" }))]);
  expect(status).toMatchObject({ phase: "Committed", progress: "2/2" });
  expect((await read(configMap("there")))["data"]).toEqual({ a: "2", b: "1" });
  expect((await read(configMap("fresh")))["data"]).toEqual({ a: "2" });
  expect(status.items).toMatchObject([{ uid: expect.any(String) }, { created: expect.any(String) }]);
});

it("commits the three changes of deploy-v2, and leaves nothing of its own behind", async () => {
  const { create, read, exists, names, run, janus } = await workspace();
  await create(
    configMap("app-config", { version: "1.0", colour: "blue" }),
    deployment("web-server", "myapp:v1.0"),
    secret("old-api-key", { key: "k" }),
  );
  await janus();
  const txn = await run(
    [
      patching(configMap("app-config", { version: "2.0" })),
      patching({
        ...deployment("web-server", ""),
        spec: { template: { spec: { containers: [{ name: "web", image: "myapp:v2.0" }] } } },
      }),
      deleting(secret("old-api-key")),
    ],
    { name: "deploy-v2" },
  );
  expect(txn.status).toMatchObject({ phase: "Committed", progress: "3/3" });
  expect(txn.metadata.finalizers ?? []).toEqual([]);
  expect(await read(configMap("app-config"))).toMatchObject({ data: { version: "2.0", colour: "blue" } });
  expect(await read(deployment("web-server", ""))).toMatchObject({
    spec: {
      selector: { matchLabels: { app: "web-server" } },
      template: { spec: { containers: [{ name: "web", image: "myapp:v2.0" }] } },
    },
  });
  expect(await exists(secret("old-api-key"))).toBe(false);
  expect(await names("v1", "ConfigMap")).not.toContainEqual(expect.stringMatching(/rollback|journal/));
  expect(await names("v1", "Secret")).toEqual([]);
  expect(await names("coordination.k8s.io/v1", "Lease")).toEqual([]);
});

it("writes as a field manager of the Transaction's own", async () => {
  const { create, read, run, janus } = await workspace();
  await create(configMap("patched"));
  await janus();
  const { metadata } = await run([
    creating(configMap("created", { a: "1" })),
    patching(configMap("patched", { a: "1" })),
  ]);
  for (const name of ["created", "patched"]) {
    const managers = ((await read(configMap(name))).metadata.managedFields ?? []).map(({ manager }) => manager);
    expect(managers).toContainEqual(expect.stringMatching(new RegExp(`^janus-txn-${metadata.uid}$`)));
  }
});

it("takes a target without a namespace to be in the Transaction's own, and reaches others where the ServiceAccount may", async () => {
  const { namespace: mine, run, janus, read } = await workspace();
  const other = await workspace();
  await other.create(roleBinding("guest", "ClusterRole", "admin", `${mine}/deployer`));
  await janus();
  const { status } = await run([
    creating(configMap("here", { a: "1" })),
    creating(within(other.namespace, configMap("there", { a: "1" }))),
  ]);
  expect(status.phase).toBe("Committed");
  expect(await read(configMap("here"))).toMatchObject({ data: { a: "1" } });
  expect(await other.read(configMap("there"))).toMatchObject({ data: { a: "1" } });
});

it("locks a cluster-scoped target, whatever its name, in the controller's namespace", async () => {
  const { namespace, janus, submit, over } = await workspace();
  const [name, rights] = [`${namespace}:reader`, `${namespace}:rights`];
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  await administrator.create(
    clusterRole(
      rights,
      { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["*"] },
      ...rules,
    ),
  );
  await administrator.create(clusterRoleBinding(rights, rights, `${namespace}/deployer`));
  onTestFinished(async () => {
    for (const made of [clusterRole(name), clusterRole(rights), clusterRoleBinding(rights, rights)])
      await administrator.remove(made);
  });

  const locked: string[] = [];
  await janus(async (request, next) => {
    if (request.purpose === "change") {
      const leases = await administrator.list(lease(""), CONTROLLER_NAMESPACE);
      locked.push(...leases.flatMap(({ metadata }) => (metadata.name?.includes(namespace) ? [metadata.name] : [])));
    }
    return next(request);
  });
  await submit([creating(clusterRole(name, ...rules))]);
  const { status } = await over();
  expect(status).toMatchObject({ phase: "Committed", items: [{ leaseNamespace: CONTROLLER_NAMESPACE }] });
  expect(locked).toEqual([status.items[0]?.lockLease]);
  expect(await administrator.read(clusterRole(name))).toMatchObject({ rules });
  const left = await administrator.list(lease(""), CONTROLLER_NAMESPACE);
  expect(left.filter(({ metadata }) => metadata.name?.includes(namespace))).toEqual([]);
});

it("creates a Namespace and what is in it", async () => {
  const { namespace: mine, janus, run } = await workspace();
  await clusterAdmin(mine);
  await janus();
  const fresh = namespaceName();
  const { status } = await run([
    creating(namespace(fresh)),
    creating(within(fresh, configMap("inside", { a: "1" }))),
    creating(within(fresh, secret("inside", { a: "1" }))),
  ]);
  expect(status).toMatchObject({ phase: "Committed", progress: "3/3" });
  expect(await administrator.read(within(fresh, configMap("inside")))).toMatchObject({ data: { a: "1" } });
  expect(await administrator.read(within(fresh, secret("inside")))).toBeDefined();
  expect(await administrator.list(lease(""), fresh)).toEqual([]);
});

it("creates a CustomResourceDefinition and an object of it", async () => {
  const { namespace, janus, run, read } = await workspace();
  await clusterAdmin(namespace);
  const [crd, one] = [gadgets(namespace), gadget(namespace)];
  onTestFinished(() => administrator.remove(crd));
  await janus();
  const { status } = await run([creating(crd), creating(one)]);
  expect(status).toMatchObject({ phase: "Committed", progress: "2/2" });
  await expect.poll(() => read(one).catch(() => undefined)).toMatchObject({ size: 3 });
});

it("makes changes with rights that an earlier change has granted", async () => {
  const { namespace: mine, janus, run } = await workspace();
  const other = await workspace();
  await other.create(role("configurer", { apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }));
  // May hand out rights in the other namespace, but has none there.
  await other.create(
    role("granter", {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["rolebindings", "roles"],
      verbs: ["get", "create", "update", "patch", "delete", "bind"],
    }),
    roleBinding("granter", "Role", "granter", `${mine}/deployer`),
  );
  await janus();
  const { status } = await run([
    creating(serviceAccount("helper")),
    creating(within(other.namespace, roleBinding("grant", "Role", "configurer", `${mine}/deployer`, `${mine}/helper`))),
    creating(within(other.namespace, configMap("granted", { a: "1" }))),
  ]);
  expect(status).toMatchObject({ phase: "Committed", progress: "3/3" });
  expect(await other.read(configMap("granted"))).toMatchObject({ data: { a: "1" } });
});

it("works on many Transactions side by side", async () => {
  const { janus, submit, over, names } = await workspace();
  await janus();
  const all = Array.from({ length: 20 }, (_, n) => `t${n}`);
  const parts = ["a", "b", "c"];
  await Promise.all(
    all.map((name) =>
      submit(
        parts.map((part) => creating(configMap(`${name}-${part}`))),
        { name },
      ),
    ),
  );
  for (const name of all) expect((await over(name)).status).toMatchObject({ phase: "Committed", progress: "3/3" });
  expect((await names("v1", "ConfigMap")).filter((name) => /^t\d+-[abc]$/.test(name))).toHaveLength(60);
  expect(await names("coordination.k8s.io/v1", "Lease")).toEqual([]);
});
