import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import type { Request } from "@janus/kube";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, type WrittenChange } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { namespace as namespaceOf, within } from "../fixtures/manifests.ts";
import { refusing, unavailable } from "../fixtures/refusing.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const storage = "1Gi";

/** Of a class of its own, so that no claim of another test takes it. */
const volumeOf = ({ namespace }: Workspace, policy = "Delete", more: object = {}): Manifest => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: `${namespace}-volume` },
  spec: {
    capacity: { storage },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: policy,
    storageClassName: namespace,
    hostPath: { path: `/tmp/${namespace}-volume` },
    ...more,
  },
});

const claimOf = ({ namespace }: Workspace, spec: object = {}): Manifest => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "claim" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: namespace, resources: { requests: { storage } }, ...spec },
});

const withVolume = async (volume: Manifest): Promise<void> => {
  await administrator.create(volume);
  onTestFinished(() => administrator.remove(volume));
};

const phaseOf = async (volume: Manifest) =>
  ((await administrator.read(volume))?.["status"] as { phase?: string } | undefined)?.phase;

/** Committed, and then rolled back on request. */
const takenBack = async (place: Workspace, ...changes: readonly WrittenChange[]) => {
  await place.submit(changes, { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await annotated(place, REQUEST_ROLLBACK);
  await expect.poll(async () => (await place.txn()).status?.phase).toMatch(/RolledBack|Failed/);
  return (await place.over()).status;
};

const annotated = ({ patch }: Workspace, name: string) =>
  patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [name]: "yes" } } });

const bound = (place: Workspace, spec: object = {}): WrittenChange => ({
  ...creating(claimOf(place, spec)),
  waitFor: ["ready"],
});

it("does not delete a claim with which a volume would go that was there before, until that is retained", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const volume = volumeOf(place);
  await withVolume(volume);
  await place.janus();
  const { phase, items } = await takenBack(place, bound(place, { volumeName: volume.metadata.name }));
  expect(phase).toBe("Failed");
  expect(items[0]?.error).toBe(
    `PersistentVolumeClaim ${place.namespace}/claim is not deleted, nor its data, which was there before: set persistentVolumeReclaimPolicy of PersistentVolume ${volume.metadata.name} to Retain, and retry with the annotation ${RETRY_ROLLBACK}`,
  );
  expect(await phaseOf(volume)).toBe("Bound");
  await administrator.patch({ ...volume, spec: { persistentVolumeReclaimPolicy: "Retain" } });
  await annotated(place, RETRY_ROLLBACK);
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  await expect.poll(() => phaseOf(volume)).toBe("Released");
});

it("does not delete a claim for which a volume with data was imported, although that says which provisioner made it", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.janus();
  const unbound = creating(claimOf(place));
  await place.submit([unbound], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", name: "claim", namespace: place.namespace };
  const volume = volumeOf(place, "Delete", { claimRef });
  const annotations = { "pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com" };
  await withVolume({ ...volume, metadata: { ...volume.metadata, annotations } });
  await expect.poll(() => phaseOf(volume)).toBe("Bound");
  await annotated(place, REQUEST_ROLLBACK);
  expect((await place.over()).status.phase).toBe("Failed");
  expect(await phaseOf(volume)).toBe("Bound");
});

it("does not delete a Namespace with a claim that stays because of its volume", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const volume = volumeOf(place);
  await withVolume(volume);
  const inside = `${place.namespace}-inside`;
  const bound = {
    ...creating(within(inside, claimOf(place, { volumeName: volume.metadata.name }))),
    waitFor: ["ready"],
  };
  await place.janus();
  const { phase, items } = await takenBack(place, creating(namespaceOf(inside)), bound);
  onTestFinished(() => administrator.remove(namespaceOf(inside)));
  expect([phase, items[0]?.error]).toEqual([
    "Failed",
    expect.stringContaining(
      `Namespace ${inside} contains objects of other clients, or that were not rolled back (PersistentVolumeClaim claim)`,
    ),
  ]);
  expect(await phaseOf(volume)).toBe("Bound");
  await administrator.patch({ ...volume, spec: { persistentVolumeReclaimPolicy: "Retain" } });
  await annotated(place, RETRY_ROLLBACK);
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  expect(await administrator.read(namespaceOf(inside))).toBeUndefined();
});

it("does not delete a claim that has found a volume which the ServiceAccount may not read", async () => {
  const place = await workspace();
  const volume = volumeOf(place, "Delete");
  await withVolume(volume);
  await place.janus();
  const { phase, items } = await takenBack(place, bound(place));
  expect(phase).toBe("Failed");
  expect(items[0]?.error).toContain(
    `PersistentVolumeClaim ${place.namespace}/claim is not deleted, since PersistentVolume ${volume.metadata.name}, which was not made for it, may go with it, and cannot be read`,
  );
  expect(await phaseOf(volume)).toBe("Bound");
});

it.each([
  ["pvc- and the uid", (uid: string) => `pvc-${uid}`],
  ["16 digits of the uid, as some provisioners do", (uid: string) => `pvc-${uid.replaceAll("-", "").slice(0, 16)}`],
])(
  "deletes a claim whose volume was provisioned for it, as the role admin, which may not read volumes: %s",
  async (_, named) => {
    const place = await workspace();
    await place.janus();
    await place.submit([creating(claimOf(place))], { rollbackWindow: "1h" });
    await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
    const { name, namespace, uid = "" } = (await place.read(claimOf(place))).metadata;
    const provisioned = volumeOf(place, "Delete", {
      storageClassName: place.namespace,
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid },
    });
    const volume = { ...provisioned, metadata: { name: named(uid) } };
    await administrator.create(volume);
    await expect.poll(() => phaseOf(volume)).toBe("Bound");
    await annotated(place, REQUEST_ROLLBACK);
    expect((await place.over()).status.phase).toBe("RolledBack");
    await expect.poll(() => administrator.read(volume)).toBeUndefined();
  },
);

const isReadOfVolume = (request: Request): boolean =>
  request.verb === "get" && request.resource.plural === "persistentvolumes";

it("reads a volume again that is forbidden for a moment, as by an API server that does not know its roles yet", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const volume = volumeOf(place, "Retain");
  await withVolume(volume);
  const forbidden = { ...unavailable, code: 403, reason: "Forbidden", message: "persistentvolumes is forbidden" };
  const { hook, refused } = refusing(isReadOfVolume, 2_000, forbidden);
  await place.janus(hook);
  expect((await takenBack(place, bound(place))).phase).toBe("RolledBack");
  expect(refused()).toBeGreaterThan(0);
});

it("does not delete a volume that another client has bound a claim to", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const volume = volumeOf(place, "Retain");
  await place.janus();
  await place.submit([creating(volume)], { rollbackWindow: "1h" });
  onTestFinished(() => administrator.remove(volume));
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await place.create(claimOf(place, { volumeName: volume.metadata.name }));
  await expect.poll(() => phaseOf(volume)).toBe("Bound");
  await annotated(place, REQUEST_ROLLBACK);
  const failed = async () => (await place.txn()).status?.phase;
  await expect.poll(failed).toBe("Failed");
  expect((await place.txn()).status.items[0]?.error).toContain(
    `PersistentVolume ${volume.metadata.name} is not deleted: PersistentVolumeClaim ${place.namespace}/claim of another client is bound to it`,
  );
  expect((await administrator.read(volume))?.metadata.deletionTimestamp).toBeUndefined();
});
