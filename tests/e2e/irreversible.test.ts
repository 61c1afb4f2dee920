import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadgets } from "../fixtures/gadgets.ts";
import { configMap, namespace as namespaceOf, role, roleBinding, within } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

const claim = (name: string) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

it("completes the deletion of a Namespace that takes longer than spec.timeout, and says so", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const doomed = namespaceOf(`${place.namespace}-doomed`);
  const held = {
    ...configMap("held"),
    metadata: { name: "held", namespace: doomed.metadata.name ?? "", finalizers: ["example.com/held"] },
  };
  await administrator.create(doomed);
  await administrator.create(held);
  const release = () => administrator.patch({ ...held, metadata: { ...held.metadata, finalizers: [] } });
  onTestFinished(async () => {
    if ((await administrator.read(doomed)) !== undefined) await administrator.remove(doomed);
  });
  await place.create(configMap("app", { version: "1" }));
  await place.janus();
  await place.submit([patching(configMap("app", { version: "2" })), deleting(doomed)], { timeout: "20s" });
  const ready = async () => (await place.txn()).status?.conditions?.find(({ type }) => type === "Ready")?.message;
  await expect.poll(ready).toContain("cannot be undone, so the Transaction can only be completed");
  await release();
  const { status } = await place.over();
  expect(status.phase).toBe("Committed");
  expect((await place.read(configMap("app")))["data"]).toEqual({ version: "2" });
  expect(await administrator.read(doomed)).toBeUndefined();
});

it("does not create a PersistentVolumeClaim again that was deleted before the next one was refused", async () => {
  const place = await workspace();
  await place.create(configMap("app", { version: "1" }), claim("first"), claim("second"));
  await place.janus(async (request, next) => {
    const isSecond = request.purpose === "change" && request.verb === "delete" && request.name === "second";
    // Somebody holds it: its deletion is refused for good.
    if (isSecond) await place.patch({ ...claim("second"), metadata: { name: "second", labels: { changed: "since" } } });
    return next(request);
  });
  await place.submit([
    patching(configMap("app", { version: "2" })),
    deleting(claim("first")),
    {
      ...deleting(claim("second")),
      resourceVersion: (await place.read(claim("second"))).metadata.resourceVersion ?? "",
    },
  ]);
  const { status } = await place.over();
  expect(status.phase).toBe("Failed");
  expect(status.items.map(({ rolledBack }) => rolledBack)).toEqual([true, false, true]);
  expect(status.items[1]?.error).toContain(
    `PersistentVolumeClaim ${place.namespace}/first was deleted, which cannot be undone`,
  );
  expect((await place.read(configMap("app")))["data"]).toEqual({ version: "1" });
  expect(await place.exists(claim("first"))).toBe(false);
  const told = async () => (await eventsOf(place.namespace, "txn")).map(({ message }) => message).join("\n");
  await expect.poll(told).toContain("was not rolled back");
});

it("reports of a target in a Namespace that it deletes later that it was deleted with it", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const doomed = namespaceOf(`${place.namespace}-doomed`);
  const name = doomed.metadata.name ?? "";
  const [inside, gone] = [within(name, configMap("inside", { version: "1" })), within(name, configMap("gone"))];
  await administrator.create(doomed);
  await administrator.create(inside);
  await administrator.create(gone);
  await place.create(claim("last"));
  await place.janus(async (request, next) => {
    const isLast = request.purpose === "change" && request.verb === "delete" && request.name === "last";
    if (isLast) await place.patch({ ...claim("last"), metadata: { name: "last", labels: { changed: "since" } } });
    return next(request);
  });
  await place.submit([
    patching(within(name, configMap("inside", { version: "2" }))),
    deleting(gone),
    deleting(doomed),
    { ...deleting(claim("last")), resourceVersion: (await place.read(claim("last"))).metadata.resourceVersion ?? "" },
  ]);
  const { status } = await place.over();
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toBe(
    `ConfigMap ${name}/inside was deleted together with Namespace ${name}, which changes[2] deleted: that cannot be undone`,
  );
  expect(status.items[1]?.error).toBe(
    `ConfigMap ${name}/gone cannot be restored without Namespace ${name}, which changes[2] deleted: that cannot be undone`,
  );
});

it("refuses a deletion that also deletes a PersistentVolumeClaim anywhere but at the end", async () => {
  const place = await workspace();
  const [owner] = await place.create(configMap("owner"), configMap("app", { version: "1" }));
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner?.metadata.uid }];
  await place.create({ ...claim("data"), metadata: { name: "data", ownerReferences } });
  await place.janus();
  const [deletion, patch] = [deleting(configMap("owner")), patching(configMap("app", { version: "2" }))];
  const { status } = await place.run([deletion, patch], { name: "early" });
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain(
    `the Delete of ConfigMap ${place.namespace}/owner also deletes PersistentVolumeClaim data, which cannot be undone: move it to the end`,
  );
  expect(await place.exists(configMap("owner"))).toBe(true);
  const late = await place.run([patch, deletion], { name: "late" });
  expect(late.status.phase).toBe("Committed");
});

it("does not restore the reclaim policy of a volume that is without its claim by now: it would be deleted, with its data", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const name = `${place.namespace}-volume`;
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: name,
      hostPath: { path: `/tmp/${name}` },
    },
  };
  const bound = claim("data");
  const phase = async () => ((await administrator.read(volume))?.["status"] as { phase?: string } | undefined)?.phase;
  await administrator.create(volume);
  onTestFinished(() => administrator.remove(volume));
  await place.create({ ...bound, spec: { ...bound.spec, storageClassName: name, volumeName: name } });
  await expect.poll(phase).toBe("Bound");
  await place.janus();
  const retain = { ...volume, spec: { persistentVolumeReclaimPolicy: "Retain" } };
  await place.submit([patching(retain)], { rollbackWindow: "10m" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await place.remove(bound);
  await expect.poll(phase).toBe("Released");
  const annotations = { "backup.janus.io/request-rollback": "now" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Failed");
  const [item] = (await place.txn()).status?.items ?? [];
  expect(item?.error).toContain(
    "restoring its reclaim policy makes the cluster delete it, since its phase is Released",
  );
  expect(await phase()).toBe("Released");
});

const podSpec = {
  restartPolicy: "Never",
  serviceAccountName: "deployer",
  containers: [{ name: "web", image: "nginx" }],
};

const job = (spec: object): Manifest => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "migrate" },
  spec,
});

it("refuses a time to live of a Job that has finished, and does not restore one", async () => {
  const place = await workspace();
  const suspended = { suspend: true, activeDeadlineSeconds: 1, ttlSecondsAfterFinished: 10 };
  await place.create(job({ ...suspended, template: { spec: podSpec } }));
  await place.janus();
  await place.submit([patching(job({ ttlSecondsAfterFinished: 3600 }))], { rollbackWindow: "10m" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await place.patch(job({ suspend: false }));
  const status = async () => (await place.read(job({})))["status"];
  const failed = { conditions: expect.arrayContaining([expect.objectContaining({ type: "Failed", status: "True" })]) };
  await expect.poll(status).toMatchObject(failed);
  const annotations = { "backup.janus.io/request-rollback": "now" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Failed");
  expect((await place.txn()).status.items[0]?.error).toContain(
    "restoring its ttlSecondsAfterFinished lets the cluster delete it, since it has finished: not restored",
  );
  const shorter = await place.run([patching(job({ ttlSecondsAfterFinished: 0 })), creating(configMap("last"))], {
    name: "shorter",
  });
  expect(shorter.status.items[0]?.error).toContain(
    `the Patch of Job ${place.namespace}/migrate lets the cluster delete it, since it has finished, which cannot be undone: move it to the end`,
  );
});

it("refuses to delete a Pod with the claims of its ephemeral volumes, which the ServiceAccount may not list", async () => {
  const place = await workspace();
  const ephemeral = { volumeClaimTemplate: { spec: claim("scratch").spec } };
  const pod: Manifest = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web" },
    spec: { ...podSpec, volumes: [{ name: "scratch", ephemeral }] },
  };
  const verbs = ["get", "create", "update", "delete"];
  await place.create(
    pod,
    role("limited", { apiGroups: [""], resources: ["pods", "configmaps"], verbs }),
    roleBinding("limited", "Role", "limited", `${place.namespace}/deployer`),
  );
  await expect.poll(() => place.exists(claim("web-scratch"))).toBe(true);
  await place.remove(roleBinding("deployer", "ClusterRole", "admin", `${place.namespace}/deployer`));
  await place.janus();
  const { status } = await place.run([deleting(pod), creating(configMap("last"))]);
  expect(status.items[0]?.error).toContain(
    `the Delete of Pod ${place.namespace}/web also deletes PersistentVolumeClaim web-scratch, which cannot be undone: move it to the end`,
  );
  expect(await place.exists(pod)).toBe(true);
});

it("names beforehand the fields that a change adds to a kind: a rollback would remove them from all of its objects", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const having = (...names: readonly string[]) => {
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    return gadgets(place.namespace, { schema: { openAPIV3Schema: { type: "object", properties } } });
  };
  const crd = having("size");
  await administrator.create(crd);
  onTestFinished(() => administrator.remove(crd));
  await place.janus();
  const { status } = await place.run([patching(having("size", "colour"))]);
  expect(status.phase).toBe("Committed");
  const warnings = async () =>
    (await eventsOf(place.namespace, "txn")).flatMap(({ reason, message }) =>
      reason === "PreflightWarning" ? [message] : [],
    );
  await expect
    .poll(warnings)
    .toEqual([
      `changes[0]: the Patch of CustomResourceDefinition ${crd.metadata.name} adds .colour: a rollback removes what has been set there by then from all of its objects`,
    ]);
});
