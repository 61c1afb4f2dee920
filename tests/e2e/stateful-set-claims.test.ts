import { expect, it, vi } from "vitest";
import type { Manifest, Ref } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap, role, roleBinding } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const KEEP = { whenScaled: "Retain", whenDeleted: "Retain" };

const statefulSet = (spec: object): Manifest => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "web" },
  spec,
});

/** Its claims of volumes stay, or go, by that policy. */
const withVolumes = (replicas: number | undefined, policy: object): Manifest =>
  statefulSet({
    replicas,
    serviceName: "web",
    podManagementPolicy: "Parallel",
    selector: { matchLabels: { app: "web" } },
    persistentVolumeClaimRetentionPolicy: policy,
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "nginx" }] } },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ],
  });

const claim = (ordinal: number): Ref => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: `data-web-${ordinal}` },
});

/** Once the controllers have made them. */
const claimsOf = async (place: Workspace, replicas: number): Promise<readonly (string | undefined)[]> => {
  const ordinals = Array.from({ length: replicas }, (_, n) => n);
  for (const n of ordinals) await expect.poll(() => place.exists(claim(n))).toBe(true);
  return Promise.all(ordinals.map(async (n) => (await place.read(claim(n))).metadata.uid));
};

/** The API server tells when something was created to the second. */
const aSecondLater = async (place: Workspace, ordinal = 0): Promise<void> => {
  const { creationTimestamp = "" } = (await place.read(claim(ordinal))).metadata;
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(creationTimestamp) + 2000);
};

const messageOf = ({ conditions }: { conditions: readonly { type: string; message: string }[] }): string =>
  conditions.find(({ type }) => type === "Ready")?.message ?? "";

it.each<readonly [string, object, WrittenChange, string]>([
  [
    "a Patch that scales it down",
    { ...KEEP, whenScaled: "Delete" },
    patching(statefulSet({ replicas: 1 })),
    "scales it down, which also deletes PersistentVolumeClaim data-web-1, which cannot be undone",
  ],
  [
    "an Update that leaves its replicas out",
    { ...KEEP, whenScaled: "Delete" },
    updating(withVolumes(undefined, { ...KEEP, whenScaled: "Delete" })),
    "scales it down, which also deletes PersistentVolumeClaim data-web-1",
  ],
  [
    "a Patch that sets the policy, too",
    KEEP,
    patching(statefulSet({ replicas: 0, persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } })),
    "also deletes PersistentVolumeClaim data-web-0, data-web-1",
  ],
  [
    "a Patch that lets it begin with another ordinal",
    { ...KEEP, whenScaled: "Delete" },
    patching(statefulSet({ ordinals: { start: 1 } })),
    "also deletes PersistentVolumeClaim data-web-0",
  ],
])("refuses what takes volumes of a StatefulSet anywhere but at the end: %s", async (_, policy, change, message) => {
  const place = await workspace();
  await place.create(withVolumes(2, policy));
  const before = await claimsOf(place, 2);
  await place.janus();
  const { status } = await place.run([change, creating(configMap("last"))]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain(message);
  expect(await claimsOf(place, 2)).toEqual(before);
});

it("scales a StatefulSet down whose volumes are retained, and back", async () => {
  const place = await workspace();
  await place.create(withVolumes(2, KEEP));
  await claimsOf(place, 2);
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last"));
    return next(request);
  });
  const { status } = await place.run([patching(statefulSet({ replicas: 1 })), creating(configMap("last"))]);
  expect(status.phase).toBe("RolledBack");
  expect(messageOf(status)).not.toContain("data-web");
});

it("is Failed, and names the volumes, if a rollback on request cannot restore them", async () => {
  const place = await workspace();
  await place.create(withVolumes(2, { ...KEEP, whenScaled: "Delete" }));
  await claimsOf(place, 2);
  await place.janus();
  await place.submit([patching(statefulSet({ replicas: 1 }))], { rollbackWindow: "10m" });
  await expect.poll(() => place.exists(claim(1))).toBe(false);
  const annotations = { "backup.janus.io/request-rollback": "now" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  const { status } = await place.over();
  expect(status.phase).toBe("Failed");
  expect(messageOf(status)).toContain("deletes PersistentVolumeClaim data-web-1, which cannot be restored");
  expect((await place.read(statefulSet({})))["spec"]).toMatchObject({ replicas: 2 });
});

it("does not roll back a Delete that has also deleted volumes: it can only be completed", async () => {
  const place = await workspace();
  await place.create(withVolumes(1, { ...KEEP, whenDeleted: "Delete" }));
  await claimsOf(place, 1);
  await place.janus();
  await place.submit([creating(configMap("first")), deleting(statefulSet({}))], { rollbackWindow: "10m" });
  await expect.poll(() => place.exists(claim(0))).toBe(false);
  const { status } = await place.over();
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Reversible", reason: "Irreversible" }));
  const annotations = { "backup.janus.io/request-rollback": "now" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  const ready = async () => messageOf((await place.over()).status);
  await expect.poll(ready).toContain("the deletion of StatefulSet web cannot be undone");
  expect((await place.txn()).status?.phase).toBe("Committed");
  expect(await place.exists(statefulSet({}))).toBe(false);
});

it("refuses to delete one with its volumes anywhere but at the end, also where the ServiceAccount may not list these", async () => {
  const place = await workspace();
  await place.create(
    withVolumes(1, { ...KEEP, whenDeleted: "Delete" }),
    role(
      "limited",
      { apiGroups: ["apps"], resources: ["statefulsets"], verbs: ["get", "create", "update", "delete"] },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "delete"] },
    ),
    roleBinding("limited", "Role", "limited", `${place.namespace}/deployer`),
  );
  await place.remove(roleBinding("deployer", "ClusterRole", "admin", `${place.namespace}/deployer`));
  await place.janus();
  const { status } = await place.run([deleting(statefulSet({})), creating(configMap("last"))]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("also deletes PersistentVolumeClaim data-web-0, which cannot be undone");
});

it("does not delete one whose volumes would be deleted with it because of an edit after the checks", async () => {
  const place = await workspace();
  await place.create(withVolumes(1, KEEP));
  const before = await claimsOf(place, 1);
  let isEdited = false;
  await place.janus(async (request, next) => {
    if (isChangeOf("web")(request) && !isEdited) {
      isEdited = true;
      const policy = { persistentVolumeClaimRetentionPolicy: { ...KEEP, whenDeleted: "Delete" } };
      await place.patch(statefulSet(policy));
    }
    return next(request);
  });
  const { status } = await place.run([deleting(statefulSet({})), creating(configMap("last"))]);
  expect(status.phase).toBe("RolledBack");
  expect(messageOf(status)).toContain(
    "the Delete now also deletes PersistentVolumeClaim data-web-0, which cannot be undone",
  );
  expect(await claimsOf(place, 1)).toEqual(before);
});

it("keeps volumes that were there before a StatefulSet took them over, when its creation is rolled back", async () => {
  const place = await workspace();
  await place.create(withVolumes(1, KEEP));
  const before = await claimsOf(place, 1);
  await aSecondLater(place);
  await place.remove(statefulSet({}));
  await expect.poll(() => place.exists(statefulSet({}))).toBe(false);
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) {
      // The controller has taken the volume over.
      const isTaken = async () => ((await place.read(claim(0))).metadata.ownerReferences ?? []).length > 0;
      await vi.waitUntil(isTaken, { timeout: 300_000 });
      await place.create(configMap("last"));
    }
    return next(request);
  });
  const changes = [creating(withVolumes(1, { ...KEEP, whenDeleted: "Delete" })), creating(configMap("last"))];
  const { status } = await place.run(changes);
  expect(status.phase).toBe("Failed");
  expect(messageOf(status)).toContain(
    "PersistentVolumeClaims that are older than its change would be deleted with it (PersistentVolumeClaim data-web-0)",
  );
  expect(await claimsOf(place, 1)).toEqual(before);
  // As the message says.
  await place.patch(statefulSet({ persistentVolumeClaimRetentionPolicy: KEEP }));
  const annotations = { "backup.janus.io/retry-rollback": "now" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  expect(await place.exists(statefulSet({}))).toBe(false);
  expect(await claimsOf(place, 1)).toEqual(before);
});

it("keeps volumes that were there before a StatefulSet was scaled up to them, when that is rolled back", async () => {
  const place = await workspace();
  await place.create(withVolumes(2, KEEP));
  const before = await claimsOf(place, 2);
  await aSecondLater(place);
  await place.patch(statefulSet({ replicas: 1 }));
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web-1" } };
  await expect.poll(() => place.exists(pod)).toBe(false);
  await place.patch(statefulSet({ persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } }));
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last"));
    return next(request);
  });
  const { status } = await place.run([patching(statefulSet({ replicas: 2 })), creating(configMap("last"))]);
  expect(status.phase).toBe("Failed");
  expect(messageOf(status)).toContain(
    "PersistentVolumeClaims that are older than its change would be deleted with it (PersistentVolumeClaim data-web-1)",
  );
  expect(await claimsOf(place, 2)).toEqual(before);
});

/** What a person brings back from a backup. */
const restored = (ordinal: number): Manifest => ({
  ...claim(ordinal),
  metadata: { ...claim(ordinal).metadata, labels: { app: "web" } },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

const takenBack = async (place: Workspace) => {
  const annotations = { "backup.janus.io/request-rollback": "now" };
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations } });
  await expect.poll(async () => (await place.txn()).status?.phase).toMatch(/RolledBack|Failed/);
  return (await place.txn()).status.phase;
};

it("keeps volumes that are younger than the Transaction, a Draft, and older than its change", async () => {
  const place = await workspace();
  await place.create(withVolumes(1, { ...KEEP, whenScaled: "Delete" }));
  await claimsOf(place, 1);
  await place.janus();
  await place.submit([patching(statefulSet({ replicas: 2 }))], { lifecycle: "Draft", rollbackWindow: "1h" });
  await aSecondLater(place);
  const [precious] = await place.create(restored(1));
  await aSecondLater(place, 1);
  await place.patch({ ...transaction("txn"), spec: { lifecycle: "Published" } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await expect.poll(() => place.names("v1", "Pod")).toContain("web-1");
  expect(await takenBack(place)).toBe("Failed");
  expect((await place.read(claim(1))).metadata).toMatchObject({ uid: precious?.metadata.uid });
});

it("keeps volumes of ordinals that others have scaled a created StatefulSet down from", async () => {
  const place = await workspace();
  const [precious] = await place.create(restored(1));
  await aSecondLater(place, 1);
  await place.janus();
  await place.submit([creating(withVolumes(2, { ...KEEP, whenDeleted: "Delete" }))], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  const isTaken = async () => ((await place.read(claim(1))).metadata.ownerReferences ?? []).length > 0;
  await vi.waitUntil(isTaken, { timeout: 300_000 });
  await place.patch(statefulSet({ replicas: 1 }));
  await expect.poll(() => place.names("v1", "Pod")).toEqual(["web-0"]);
  expect(await takenBack(place)).toBe("Failed");
  expect((await place.read(claim(1))).metadata).toMatchObject({ uid: precious?.metadata.uid });
});
