import { REQUEST_ROLLBACK } from "@janus/api";
import type { Hook, Request } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, lease, namespace as namespaceOf, secret } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const NAMES = ["a", "b", "c"];
const abc = NAMES.map((name) => patching(configMap(name, { value: "new" })));
const key = secret("key", { key: "old" });
const all = [...abc, deleting(key)];

const prepared = async (): Promise<Workspace> => {
  const place = await workspace();
  await place.create(...NAMES.map((name) => configMap(name, { value: "old" })), key);
  return place;
};

const values = ({ read }: Workspace) =>
  Promise.all(NAMES.map(async (name) => ((await read(configMap(name)))["data"] as { value: string }).value));

const isGone = (place: Workspace) => expect.poll(() => place.exists(transaction("txn"))).toBe(false);

const leases = ({ names }: Workspace) => names("coordination.k8s.io/v1", "Lease");

/** Snapshots and journals, as `kind/name`. */
const ours = async ({ names }: Workspace): Promise<readonly string[]> =>
  [
    ...(await names("v1", "ConfigMap")).map((name) => `configmap/${name}`),
    ...(await names("v1", "Secret")).map((name) => `secret/${name}`),
  ].filter((name) => /rollback|journal/.test(name));

/** Those that nobody will ever delete. */
const unowned = async (place: Workspace): Promise<readonly string[]> => {
  const stores = await Promise.all(
    ["ConfigMap", "Secret"].map((kind) => administrator.list({ apiVersion: "v1", kind }, place.namespace)),
  );
  return stores
    .flat()
    .filter(({ metadata }) => metadata.labels?.["janus.io/transaction"] === "txn" && !metadata.ownerReferences)
    .map(({ metadata }) => metadata.name ?? "");
};

/** What the documentation tells people to look with. */
const orphaned = async ({ namespace }: Workspace): Promise<readonly string[]> => {
  const { stdout } = await kubectl("get", "cm,secret", "-l", "janus.io/orphaned=true", "-o", "name", "-n", namespace);
  return stdout.split("\n").filter((line) => line !== "");
};

const deletes = async (place: Workspace): Promise<void> => {
  await place.remove(transaction("txn"));
};

const asks = async ({ patch }: Workspace): Promise<void> => {
  await patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [REQUEST_ROLLBACK]: "yes" } } });
};

/** When somebody has second thoughts: which request of the Transaction is held up until they have acted. */
const moments: readonly { readonly when: string; readonly is: (request: Request) => boolean; readonly made: number }[] =
  [
    { when: "Preparing, before anything is written", is: ({ purpose }) => purpose === "lock", made: 0 },
    { when: "Preparing, when the snapshots are being written", is: ({ purpose }) => purpose === "store", made: 0 },
    { when: "Committing, when the first change is on its way", is: isChangeOf("a"), made: 1 },
    { when: "Committing, when one is in and one on its way", is: isChangeOf("b"), made: 2 },
    { when: "Committing, when the last change is on its way", is: isChangeOf("key"), made: 4 },
  ];

/** Submits the Transaction, and does this while that request is held up before it goes out. */
const interrupted = async (
  place: Workspace,
  is: (request: Request) => boolean,
  act: (place: Workspace) => Promise<void>,
  spec: object,
): Promise<void> => {
  const { hook, reached, open } = gate(is);
  await place.janus(hook);
  await place.submit(all, { ...spec });
  await reached;
  await act(place);
  await place.seen();
  open();
};

describe("deletionPolicy: Rollback: deleting it rolls everything back first", () => {
  it.each(moments)("$when", async ({ is }) => {
    const place = await prepared();
    await interrupted(place, is, deletes, { deletionPolicy: "Rollback" });
    await isGone(place);
    expect(await values(place)).toEqual(["old", "old", "old"]);
    expect(await place.read(key)).toMatchObject({ data: { key: Buffer.from("old").toString("base64") } });
    expect(await leases(place)).toEqual([]);
    expect(await orphaned(place)).toEqual([]);
    // What is kept for a look goes with the Transaction, when the garbage collector gets to it.
    expect(await unowned(place)).toEqual([]);
  });
});

const both = ["configmap/txn-rollback", "secret/txn-rollback-1"];

describe("deletionPolicy: Release: deleting it keeps the applied changes, and the snapshots with a label", () => {
  it.each(moments)("$when", async ({ is, made }) => {
    const place = await prepared();
    await interrupted(place, is, deletes, {});
    await isGone(place);
    // The change that was on its way when somebody deleted the Transaction is in as well.
    expect(await values(place)).toEqual(NAMES.map((_, index) => (index < made ? "new" : "old")));
    expect(await leases(place)).toEqual([]);
    // Where nothing or everything is in, there is nothing to come back to.
    const isHalf = made > 0 && made < all.length;
    expect(await orphaned(place)).toEqual(isHalf ? both : []);
    expect(await ours(place)).toEqual(isHalf ? both : []);
    const stores = [configMap("txn-rollback"), secret("txn-rollback-1")].filter(() => isHalf);
    for (const { metadata } of await Promise.all(stores.map(place.read))) {
      expect(metadata).not.toHaveProperty("finalizers");
      expect(metadata).not.toHaveProperty("ownerReferences");
    }
  });
});

const removeFinalizers = ({ patch }: Workspace) =>
  patch({ ...configMap("held"), metadata: { name: "held", finalizers: [] } });

describe("while a Delete waits for a finalizer", () => {
  const held = { ...configMap("held", { value: "old" }), metadata: { name: "held", finalizers: ["example.com/hold"] } };
  const waiting = async (spec: object): Promise<Workspace> => {
    const place = await prepared();
    await place.create(held);
    await place.janus();
    await place.submit([patching(configMap("a", { value: "new" })), deleting(held), deleting(key)], { ...spec });
    const said = async () => (await place.txn()).status.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
    await expect.poll(said).toContain("example.com/hold");
    await place.remove(transaction("txn"));
    return place;
  };

  it("Rollback waits until it is gone, says so, and rolls it back", async () => {
    const place = await waiting({ deletionPolicy: "Rollback" });
    await expect.poll(async () => (await place.txn()).status.phase).toBe("RollingBack");
    await removeFinalizers(place);
    await isGone(place);
    expect(await values(place)).toEqual(["old", "old", "old"]);
    const again = await place.read(held);
    expect(again).toMatchObject({ data: { value: "old" }, metadata: { finalizers: ["example.com/hold"] } });
    expect(again.metadata).not.toHaveProperty("deletionTimestamp");
    expect(await place.exists(key)).toBe(true);
    expect(await leases(place)).toEqual([]);
    await removeFinalizers(place);
  });

  it("Release does not wait", async () => {
    const place = await waiting({});
    await isGone(place);
    expect(await values(place)).toEqual(["new", "old", "old"]);
    expect((await place.read(held)).metadata).toHaveProperty("deletionTimestamp");
    expect(await leases(place)).toEqual([]);
    expect(await orphaned(place)).toEqual(both);
    await removeFinalizers(place);
  });
});

/** The last change fails; the first request that puts something back is held up. */
const turned = async (spec: object): Promise<Workspace> => {
  const place = await prepared();
  const { hook, reached, open } = gate(({ purpose }) => purpose === "restore");
  const fails: Hook = async (request, next) => {
    if (isChangeOf("last")(request)) await place.create(configMap("last", { whose: "somebody's" }));
    return next(request);
  };
  await place.janus(hook, fails);
  await place.submit([...all, creating(configMap("last"))], { ...spec });
  await reached;
  await place.remove(transaction("txn"));
  await place.seen();
  open();
  return place;
};

describe("RollingBack", () => {
  it("Rollback goes on with it", async () => {
    const place = await turned({ deletionPolicy: "Rollback" });
    await isGone(place);
    expect(await values(place)).toEqual(["old", "old", "old"]);
    expect(await place.exists(key)).toBe(true);
    expect(await leases(place)).toEqual([]);
    expect(await orphaned(place)).toEqual([]);
  });

  it("Release stops it, and keeps the snapshots", async () => {
    const place = await turned({});
    await isGone(place);
    expect(await values(place)).toEqual(["new", "new", "new"]);
    expect(await leases(place)).toEqual([]);
    expect(await orphaned(place)).toEqual(both);
  });
});

it("keeps the snapshots, to be found, where Rollback cannot roll back everything", async () => {
  const place = await prepared();
  const { hook, reached, open } = gate(isChangeOf("c"));
  await place.janus(hook);
  await place.submit(abc, { deletionPolicy: "Rollback" });
  await reached;
  await place.patch(configMap("b", { value: "theirs" }));
  await place.remove(transaction("txn"));
  await place.seen();
  open();
  await isGone(place);
  expect(await values(place)).toEqual(["old", "theirs", "old"]);
  expect(await leases(place)).toEqual([]);
  expect(await ours(place)).toEqual(["configmap/txn-rollback"]);
  expect(await orphaned(place)).toEqual(["configmap/txn-rollback"]);
  const told = async () => (await eventsOf(place.namespace, "txn")).map(({ message }) => message).join();
  await expect.poll(told).toMatch(/the Transaction was deleted, so this is not retried: .* ConfigMap txn-rollback/);
  expect(await told()).not.toContain("retried automatically");
});

it.each(["Release", "Rollback"])("never blocks the deletion of its namespace: %s", async (deletionPolicy) => {
  const place = await prepared();
  const { hook, reached, open } = gate(isChangeOf("b"));
  await place.create(lease("janus-lock-somebodys", { holderIdentity: "somebody", leaseDurationSeconds: 3600 }));
  await place.janus(hook);
  await place.submit(all, { deletionPolicy });
  await reached;
  await administrator.remove(namespaceOf(place.namespace));
  await expect.poll(async () => (await place.txn()).metadata.deletionTimestamp).toBeDefined();
  open();
  await expect.poll(() => administrator.read(namespaceOf(place.namespace))).toBeUndefined();
});

it("a controller that starts again releases a namespace whose deletion hangs", async () => {
  const place = await prepared();
  const held = { ...configMap("held"), metadata: { name: "held", finalizers: ["example.com/hold"] } };
  await place.create(held);
  const { stop } = await place.janus();
  await place.submit([...abc, deleting(held)]);
  await expect.poll(async () => (await place.read(held)).metadata.deletionTimestamp).toBeDefined();
  await stop();

  await removeFinalizers(place);
  await administrator.remove(namespaceOf(place.namespace));
  await expect
    .poll(async () => JSON.stringify(await administrator.read(namespaceOf(place.namespace))))
    .toContain("Some content in the namespace has finalizers remaining: backup.janus.io/");
  await place.janus();
  await expect.poll(() => administrator.read(namespaceOf(place.namespace))).toBeUndefined();
});

describe(`the annotation ${REQUEST_ROLLBACK}`, () => {
  it.each(moments.filter(({ when }) => when.startsWith("Committing")))("rolls it back: $when", async ({ is }) => {
    const place = await prepared();
    await interrupted(place, is, asks, {});
    const { status } = await place.over();
    expect(status.phase).toBe("RolledBack");
    expect(status.conditions.find(({ type }) => type === "Stalled")).toMatchObject({
      reason: "RollbackRequested",
      message: expect.stringContaining(REQUEST_ROLLBACK) as string,
    });
    expect(await values(place)).toEqual(["old", "old", "old"]);
    expect(await place.exists(key)).toBe(true);
    expect(await leases(place)).toEqual([]);
    const told = async () => (await eventsOf(place.namespace, "txn")).map(({ reason }) => reason);
    await expect.poll(told).toContain("RollbackRequested");
  });

  it.each(moments.filter(({ when }) => when.startsWith("Preparing")))("ends it as Failed: $when", async ({ is }) => {
    const place = await prepared();
    await interrupted(place, is, asks, {});
    const { status } = await place.over();
    expect(status.phase).toBe("Failed");
    expect(status.conditions.find(({ type }) => type === "Stalled")?.message).toMatch(
      /^no changes were applied: .*rollback requested by the annotation/,
    );
    expect(await values(place)).toEqual(["old", "old", "old"]);
    expect(await leases(place)).toEqual([]);
    expect(await ours(place)).toEqual([]);
  });

  it("changes nothing once it is Committed", async () => {
    const place = await prepared();
    await place.janus();
    const { status, metadata } = await place.run(all);
    expect(status.phase).toBe("Committed");
    await asks(place);
    // Another Transaction is done by then: this one was looked at.
    await place.run([patching(configMap("c", { value: "newer" }))], { name: "next" });
    expect(await values(place)).toEqual(["new", "new", "newer"]);
    const after = await place.txn();
    const { conditions, version: _, ...rest } = after.status;
    const { conditions: former, version: __, ...same } = status;
    expect(rest).toEqual(same);
    // Only the message of Ready answers; see rollback-window.test.ts.
    const others = (all: typeof conditions) => all.filter(({ type }) => type !== "Ready");
    expect(others(conditions)).toEqual(others(former));
    expect(after.metadata.uid).toBe(metadata.uid);
  });
});
