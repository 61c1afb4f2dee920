import { RETRY_ROLLBACK } from "@janus/api";
import type { Hook } from "@janus/kube";
import { describe, expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { creating } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  deployment,
  namespace,
  secret,
  service,
  within,
} from "../fixtures/manifests.ts";
import { refusing } from "../fixtures/refusing.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";
import { namespaceName } from "../fixtures/namespaces.ts";

const last = configMap("last");

/** Fails at the last change; `meanwhile` happens before it. */
const failing = async (
  place: Workspace,
  meanwhile: () => Promise<unknown>,
  ...hooks: readonly Hook[]
): Promise<void> => {
  await clusterAdmin(place.namespace);
  await place.janus(
    async (request, next) => {
      if (isChangeOf("last")(request) && !(await place.exists(last))) {
        await meanwhile();
        await place.create(last);
      }
      return next(request);
    },
    ...hooks,
  );
};

const retry = async (place: Workspace) => {
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [RETRY_ROLLBACK]: "now" } } });
  await expect.poll(async () => (await place.txn()).status.phase).toBe("RolledBack");
};

it("keeps a created Namespace that contains objects of other clients, names them, and deletes it when they are gone", async () => {
  const place = await workspace();
  const inside = namespaceName();
  const theirs = [within(inside, configMap("theirs", { x: "1" })), within(inside, secret("their-secret"))];
  await failing(place, async () => {
    for (const one of theirs) await administrator.create(one);
  });
  const { status } = await place.run([
    creating(namespace(inside)),
    creating(within(inside, configMap("ours"))),
    creating(last),
  ]);
  expect(status.phase).toBe("Failed");
  expect(status.items.map(({ rolledBack }) => rolledBack)).toEqual([false, true, true]);
  expect(status.items[0]?.error).toBe(
    `Namespace ${inside} contains objects of other clients (ConfigMap theirs, Secret their-secret): not deleted; delete it yourself, or move these objects and retry with the annotation ${RETRY_ROLLBACK}`,
  );
  expect(await administrator.read(within(inside, configMap("theirs")))).toMatchObject({ data: { x: "1" } });
  expect((await administrator.read(namespace(inside)))?.metadata.deletionTimestamp).toBeUndefined();
  for (const one of theirs) await administrator.remove(one);
  await retry(place);
  expect(await administrator.read(namespace(inside))).toBeUndefined();
});

it("keeps a created CustomResourceDefinition with objects of other clients, and names them", async () => {
  const place = await workspace();
  const crd = gadgets(place.namespace);
  onTestFinished(async () => {
    if ((await administrator.read(crd)) !== undefined) await administrator.remove(crd);
  });
  const theirs = { ...gadget(place.namespace), metadata: { name: "theirs" } };
  await failing(place, () => place.create(theirs));
  const { status } = await place.run([creating(crd), creating(gadget(place.namespace)), creating(last)]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain(
    `CustomResourceDefinition gadgets.${place.namespace}.example.com contains objects of other clients (Gadget ${place.namespace}/theirs)`,
  );
  expect(await place.exists(theirs)).toBe(true);
  await place.remove(theirs);
  await retry(place);
  expect(await administrator.read(crd)).toBeUndefined();
});

it("deletes a created Namespace with what its own changes caused, and what the cluster creates in every namespace", async () => {
  const place = await workspace();
  const inside = namespaceName();
  const web = within(inside, deployment("web", "web:1"));
  await failing(place, async () => {
    await expect
      .poll(async () => (await administrator.list({ apiVersion: "v1", kind: "Pod" }, inside)).length)
      .toBeGreaterThan(0);
    await expect.poll(() => administrator.read(within(inside, configMap("kube-root-ca.crt")))).toBeDefined();
  });
  const { status } = await place.run([
    creating(namespace(inside)),
    creating(web),
    creating({ ...within(inside, service("web")), spec: { selector: { app: "web" }, ports: [{ port: 80 }] } }),
    creating(last),
  ]);
  expect(status.items.map(({ error }) => error).slice(0, 3)).toEqual([undefined, undefined, undefined]);
  expect(status.phase).toBe("RolledBack");
  expect(await administrator.read(namespace(inside))).toBeUndefined();
});

it("leaves a Namespace that it created where others have put in what an object outside of it owns", async () => {
  const place = await workspace();
  const inside = namespaceName();
  const theirs = within(inside, configMap("theirs"));
  await failing(place, async () => {
    const { uid = "", name = "" } = (await administrator.read(namespace(place.namespace)))?.metadata ?? {};
    const ownerReferences = [{ apiVersion: "v1", kind: "Namespace", name, uid }];
    await administrator.create({ ...theirs, metadata: { ...theirs.metadata, ownerReferences } });
  });
  const { status } = await place.run([creating(namespace(inside)), creating(last)]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("contains objects of other clients (ConfigMap theirs)");
  expect(await administrator.read(theirs)).toBeDefined();
  await administrator.remove(theirs);
  await retry(place);
  expect(await administrator.read(namespace(inside))).toBeUndefined();
});

it("leaves a CustomResourceDefinition that it created, and whose objects nobody can list any more", async () => {
  const place = await workspace();
  const crd = gadgets(place.namespace);
  onTestFinished(async () => {
    if ((await administrator.read(crd)) !== undefined) await administrator.remove(crd);
  });
  const serve = async (served: boolean) => {
    const [version] = (crd["spec"] as { readonly versions: readonly object[] }).versions;
    await administrator.patch({ ...crd, spec: { versions: [{ ...version, served }] } });
  };
  const theirs = { ...gadget(place.namespace), metadata: { name: "theirs" } };
  await failing(place, async () => {
    await place.create(theirs);
    await serve(false);
    await expect
      .poll(() => administrator.list(gadget(place.namespace), place.namespace).catch(() => undefined))
      .toBeUndefined();
  });
  const { status } = await place.run([creating(crd), creating(last)]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("the API server does not serve it");
  await serve(true);
  await expect.poll(() => place.exists(theirs).catch(() => false)).toBe(true);
});

/** Keeps what its Pod writes in a claim that stays when it is deleted. */
const database = (inside: string) => {
  const labels = { app: "db" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "db", image: "db:1" }] } };
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  return within(inside, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db" },
    spec: {
      serviceName: "db",
      selector: { matchLabels: labels },
      template,
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec }],
    },
  });
};
const claim = (inside: string) =>
  within(inside, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data-db-0" } });

it("leaves a Namespace that it created where a StatefulSet of others has left a volume with its data", async () => {
  const place = await workspace();
  const inside = namespaceName();
  await failing(place, async () => {
    await administrator.create(database(inside));
    await expect.poll(() => administrator.read(claim(inside))).toBeDefined();
    await administrator.remove(database(inside));
    const pod = within(inside, { apiVersion: "v1", kind: "Pod", metadata: { name: "db-0" } });
    await expect.poll(() => administrator.read(pod)).toBeUndefined();
  });
  const { status } = await place.run([creating(namespace(inside)), creating(last)]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("contains objects of other clients (PersistentVolumeClaim data-db-0)");
  expect((await administrator.read(claim(inside)))?.metadata.deletionTimestamp).toBeUndefined();
  await administrator.remove(claim(inside));
  await retry(place);
  expect(await administrator.read(namespace(inside))).toBeUndefined();
});

it("takes a Namespace away with the volumes of its own StatefulSets, whoever else has written into these", async () => {
  const place = await workspace();
  const inside = namespaceName();
  await failing(place, async () => {
    await expect.poll(() => administrator.read(claim(inside))).toBeDefined();
    // As the scheduler does where a volume is bound only once its node is known.
    const metadata = { ...claim(inside).metadata, annotations: { "volume.kubernetes.io/selected-node": "a" } };
    await administrator.patch({ ...claim(inside), metadata });
  });
  const { status } = await place.run([creating(namespace(inside)), creating(database(inside)), creating(last)]);
  expect(status.items[0]?.error).toBeUndefined();
  expect(status.phase).toBe("RolledBack");
  expect(await administrator.read(namespace(inside))).toBeUndefined();
});

it("leaves a CustomResourceDefinition that it created where there are objects of others, whatever its kind is called", async () => {
  const place = await workspace();
  const { spec, ...rest } = gadgets(place.namespace);
  const names = { plural: "events", singular: "event", kind: "Event", listKind: "EventList" };
  const metadata = { name: `events.${place.namespace}.example.com` };
  const crd = { ...rest, metadata, spec: { ...(spec as object), names } };
  onTestFinished(async () => {
    if ((await administrator.read(crd)) !== undefined) await administrator.remove(crd);
  });
  const theirs = { ...gadget(place.namespace), kind: "Event", metadata: { name: "theirs" } };
  await failing(place, async () => {
    await expect.poll(() => place.exists(theirs).catch(() => undefined)).toBe(false);
    await place.create(theirs);
  });
  const { status } = await place.run([creating(crd), creating(last)]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain(`contains objects of other clients (Event ${place.namespace}/theirs)`);
  expect(await place.exists(theirs)).toBe(true);
});

describe("a list of what is in a Namespace that it created, answered with 403,", () => {
  it.each([
    ["as of an API server that does not know its roles yet", 'cannot list resource "configmaps" in API group ""'],
    ["as of a controller that may not act as the ServiceAccount", 'cannot impersonate resource "serviceaccounts"'],
  ])("does not mean that nothing is in it: %s", async (_, cannot) => {
    const place = await workspace();
    const inside = namespaceName();
    const theirs = within(inside, configMap("theirs"));
    const message = `configmaps is forbidden: User "system:serviceaccount:x:deployer" ${cannot}`;
    const error = { type: "refused", code: 403, reason: "Forbidden", message, causes: [] } as const;
    const denied = refusing(
      ({ verb, purpose, ...to }) =>
        verb === "list" && purpose === "find-owned" && "resource" in to && to.resource.plural === "configmaps",
      1000,
      error,
    );
    await failing(place, () => administrator.create(theirs), denied.hook);
    const { status } = await place.run([creating(namespace(inside)), creating(last)]);
    expect(denied.refused()).toBeGreaterThan(0);
    expect(status.phase).toBe("Failed");
    expect(status.items[0]?.error).toContain("contains objects of other clients (ConfigMap theirs)");
    expect(await administrator.read(theirs)).toBeDefined();
  });

  it("is believed if the ServiceAccount may list nothing: it is deleted, and the verdict says what was not seen", async () => {
    const place = await workspace();
    const inside = namespaceName();
    const name = `${place.namespace}:namespaces`;
    const role = clusterRole(name, { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "create", "delete"] });
    const binding = clusterRoleBinding(name, name, `${place.namespace}/deployer`);
    for (const one of [role, binding]) await administrator.create(one);
    onTestFinished(async () => {
      for (const one of [binding, role]) await administrator.remove(one);
    });
    await place.janus(async (request, next) => {
      if (isChangeOf("last")(request) && !(await place.exists(last))) await place.create(last);
      return next(request);
    });
    const { status } = await place.run([creating(namespace(inside)), creating(last)]);
    expect(status.phase).toBe("RolledBack");
    expect(status.conditions.find(({ type }) => type === "RolledBack")?.message).toMatch(
      new RegExp(
        `^rolled back, except for changes\\[0\\]: Namespace ${inside}: its rollback may have deleted objects of kinds that the ServiceAccount may not list \\(.*configmaps`,
      ),
    );
    expect(await administrator.read(namespace(inside))).toBeUndefined();
  });
});
