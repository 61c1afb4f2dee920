import type { ApiError, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { administrator, connection, resourceOf } from "../fixtures/administrator.ts";
import { deleting, patching } from "../fixtures/changes.ts";
import { userKubeconfig } from "../fixtures/cluster.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, roleBinding, secret, serviceAccount, within } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { refusing } from "../fixtures/refusing.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const forbidden = (message: string): ApiError => ({
  type: "refused",
  code: 403,
  reason: "Forbidden",
  message,
  causes: [],
});

/** As an API server says it that has just started, and does not know any role yet. */
const unknownRoles = forbidden(
  'x "y" is forbidden: User "system:serviceaccount:janus-system:janus-controller" cannot get resource "x" in API group ""',
);

const remains = async ({ names }: Workspace): Promise<readonly string[]> => [
  ...[...(await names("v1", "ConfigMap")), ...(await names("v1", "Secret"))].filter((name) =>
    /rollback|journal/.test(name),
  ),
  ...(await names("coordination.k8s.io/v1", "Lease")),
];

const hasPurpose =
  (...purposes: readonly string[]) =>
  ({ purpose }: Request): boolean =>
    purpose !== undefined && purposes.includes(purpose);

describe("an API server that does not know the controller's roles yet", () => {
  it.each(["read-service-account", "journal", "lock", "store", "checkpoint", "release-store", "release-lock"])(
    "fails no Transaction, and leaves nothing of it behind: %s",
    async (purpose) => {
      const place = await workspace();
      await place.create(configMap("a", { value: "old" }), secret("b", { value: "old" }));
      const { hook, refused } = refusing(hasPurpose(purpose), 600, unknownRoles);
      await place.janus(hook);
      const { status } = await place.run([patching(configMap("a", { value: "new" })), deleting(secret("b"))]);
      expect(refused()).toBeGreaterThan(0);
      expect(status.phase).toBe("Committed");
      expect(await remains(place)).toEqual([]);
    },
  );

  it.each(["read-namespace", "read-journal", "read-store"])(
    "does not change the outcome of one that is deleted while a controller takes it over: %s",
    async (purpose) => {
      const place = await workspace();
      await place.create(configMap("a", { value: "old" }), secret("b", { value: "old" }));
      const { hook, reached, open } = gate(isChangeOf("b"));
      const first = await place.janus(hook);
      await place.submit([patching(configMap("a", { value: "new" })), deleting(secret("b"))], {
        deletionPolicy: "Rollback",
      });
      await reached;
      const stopped = first.stop();
      open();
      await stopped;
      await administrator.remove({
        apiVersion: "backup.janus.io/v1alpha1",
        kind: "Transaction",
        metadata: { name: "txn", namespace: place.namespace },
      });
      const denied = refusing(hasPurpose(purpose), 600, unknownRoles);
      await place.janus(denied.hook);
      const txn = { apiVersion: "backup.janus.io/v1alpha1", kind: "Transaction", metadata: { name: "txn" } };
      await expect.poll(() => place.exists(txn)).toBe(false);
      expect(denied.refused()).toBeGreaterThan(0);
      expect((await place.read(configMap("a")))["data"]).toEqual({ value: "old" });
      expect(await place.exists(secret("b"))).toBe(true);
    },
  );
});

describe("where the API server refuses to let go of a snapshot", () => {
  const denied = forbidden('admission webhook "x" denied the request: not on a Friday');

  it("the phase stays, an event reports it, and it is released when that is allowed again", async () => {
    const place = await workspace();
    await place.create(secret("b", { value: "old" }));
    let isFriday = true;
    await place.janus(async (request, next) =>
      isFriday && request.purpose === "release-store" ? E.left(denied) : next(request),
    );
    await place.submit([deleting(secret("b"))]);
    const told = async () =>
      (await eventsOf(place.namespace, "txn")).filter(({ reason }) => reason === "RecoveryBlocked");
    await expect.poll(told).toHaveLength(1);
    // Who refuses it; the text of the webhook may quote the Secret.
    const [event] = await told();
    expect(event?.message).toMatch(/^trying again to change Secret .*txn-rollback: .*admission webhook "x" denied/);
    expect(event?.message).not.toContain("Friday");
    const { metadata, status } = await place.txn();
    expect(status.phase).toBe("Committed");
    expect(metadata.finalizers).toEqual(["backup.janus.io/lease-cleanup"]);
    isFriday = false;
    await place.over();
    expect(await remains(place)).toEqual([]);
  });

  it("of one that was rolled back, it is owned by the Transaction once that is allowed again", async () => {
    const place = await workspace();
    await place.create(secret("b", { value: "old" }));
    await allowOneService(place);
    await place.janus(refusing(hasPurpose("release-store"), 1500, denied).hook);
    const { status, metadata } = await place.run([deleting(secret("b")), ...oneTooMany]);
    expect(status.phase).toBe("RolledBack");
    const kept = await place.read(secret("txn-rollback"));
    expect(kept.metadata).not.toHaveProperty("finalizers");
    expect(kept.metadata.ownerReferences).toMatchObject([{ uid: metadata.uid }]);
  });
});

it("neither deletes nor releases another Transaction's snapshot that a client has written into the journal", async () => {
  const place = await workspace();
  await place.create(configMap("a", { value: "old" }), configMap("b", { value: "old" }), secret("s", { value: "old" }));
  await place.create(configMap("c", { value: "old" }));
  // The role `edit`, and nothing else.
  await administrator.create(within(place.namespace, serviceAccount("eve")));
  await administrator.create(
    within(place.namespace, roleBinding("eve", "ClusterRole", "edit", `${place.namespace}/eve`)),
  );
  const eve = connection(await userKubeconfig(`system:serviceaccount:${place.namespace}:eve`));
  const [victim, own] = [gate(isChangeOf("b")), gate(isChangeOf("c"))];
  await place.janus(victim.hook, own.hook);
  await place.submit([deleting(secret("s")), patching(configMap("b", { value: "new" }))], { name: "victim" });
  await victim.reached;
  await place.submit([patching(configMap("a", { value: "new" })), patching(configMap("c", { value: "new" }))], {
    name: "eves",
  });
  await own.reached;
  const store = (await place.txn("victim")).status.snapshots.find(({ kind }) => kind === "Secret");
  const before = await place.read(secret(store?.name ?? ""));
  const renewed = {
    before: { uid: "1", resourceVersion: "1", snapshot: { store: store?.name, key: "item-0-1" } },
    stores: [store],
  };
  const journal = `janus-journal-${(await place.txn("eves")).metadata.uid}`;
  const resource = await resourceOf({ apiVersion: "v1", kind: "ConfigMap" });
  const written = () =>
    eve.send({
      verb: "mergePatch",
      resource,
      namespace: place.namespace,
      name: journal,
      body: { data: { "renewed-0": JSON.stringify(renewed) } },
      fieldManager: "eve",
    });
  // RBAC takes a moment to be known.
  await expect.poll(async () => E.isRight(await written())).toBe(true);
  own.open();
  expect((await place.over("eves")).status.phase).toBe("Committed");
  expect(await place.read(secret(store?.name ?? ""))).toEqual(before);
  victim.open();
  await place.over("victim");
});
