import { setTimeout } from "node:timers/promises";
import { lockLease } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { deleting, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, lease, namespace as namespaceOf, secret } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { recording } from "../fixtures/recording.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const abc = ["a", "b", "c"].map((name) => patching(configMap(name, { value: "new" })));

const old = { value: "old" };
const createAbc = ({ create }: Workspace) => create(configMap("a", old), configMap("b", old), configMap("c", old));

const values = ({ read }: Workspace) =>
  Promise.all(["a", "b", "c"].map(async (name) => ((await read(configMap(name)))["data"] as typeof old).value));

/** Nobody gives it back. */
const holdLock = ({ create, namespace }: Workspace, name: string) =>
  create(
    lease(lockLease({ group: "", kind: "ConfigMap", namespace, name }), {
      holderIdentity: "somebody",
      leaseDurationSeconds: 3600,
    }),
  );

const isGone = (place: Workspace) => expect.poll(() => place.exists(transaction("txn"))).toBe(false);

const ours = async ({ names }: Workspace): Promise<readonly string[]> =>
  [...(await names("v1", "ConfigMap")), ...(await names("v1", "Secret"))].filter((name) =>
    /rollback|journal/.test(name),
  );

describe("spec.timeout", () => {
  it("ends a Transaction that has made no change yet as Failed, and no changes were applied", async () => {
    const place = await workspace();
    await createAbc(place);
    await holdLock(place, "b");
    await place.janus();
    const { status } = await place.run(abc, { timeout: "2s" });
    expect(status).toMatchObject({ phase: "Failed", progress: "0/3" });
    expect(status.conditions.find(({ type }) => type === "Stalled")).toMatchObject({
      reason: "Timeout",
      message: expect.stringMatching(/^no changes were applied: spec\.timeout passed/) as string,
    });
    expect(await values(place)).toEqual(["old", "old", "old"]);
    expect(await place.names("coordination.k8s.io/v1", "Lease")).toHaveLength(1);
    const told = async () => (await eventsOf(place.namespace, "txn")).map(({ reason }) => reason);
    await expect.poll(told).toContain("Timeout");
  });

  it("rolls a Transaction back that has made changes", async () => {
    const place = await workspace();
    await createAbc(place);
    const { hook, requests } = recording();
    await place.janus(hook, async (request, next) => {
      if (isChangeOf("b")(request)) {
        const { startedAt = "" } = (await place.txn()).status;
        await setTimeout(Math.max(0, Date.parse(startedAt) + 10_100 - Date.now()));
      }
      return next(request);
    });
    const { status } = await place.run(abc, { timeout: "10s" });
    expect(status).toMatchObject({ phase: "RolledBack", progress: "0/3" });
    expect(status.conditions.find(({ type }) => type === "Stalled")).toMatchObject({
      reason: "Timeout",
      message: expect.stringContaining("spec.timeout passed with 2 of 3 changes applied") as string,
    });
    expect(requests.filter(isChangeOf("c"))).toEqual([]);
    expect(await values(place)).toEqual(["old", "old", "old"]);
  });
});

describe("deleting a Transaction", () => {
  it("that is Pending leaves no trace", async () => {
    const place = await workspace();
    await createAbc(place);
    const { hook, reached, open } = gate(({ purpose }) => purpose === "finalizer");
    const { log } = await place.janus(hook);
    await place.submit(abc);
    await reached;
    await place.remove(transaction("txn"));
    await isGone(place);
    open();
    // Another one is worked on as ever.
    expect((await place.run([patching(configMap("a", { other: "1" }))], { name: "next" })).status.phase).toBe(
      "Committed",
    );
    expect(await values(place)).toEqual(["old", "old", "old"]);
    expect(log.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
  });

  it("that is Preparing releases its locks, and no changes were applied", async () => {
    const place = await workspace();
    await createAbc(place);
    await holdLock(place, "c");
    await place.janus();
    await place.submit(abc);
    const told = async () => (await eventsOf(place.namespace, "txn")).map(({ reason }) => reason);
    await expect.poll(told).toContain("LockWaiting");
    await place.remove(transaction("txn"));
    await isGone(place);
    expect(await values(place)).toEqual(["old", "old", "old"]);
    expect(await place.names("coordination.k8s.io/v1", "Lease")).toHaveLength(1);
    expect(await ours(place)).toEqual([]);
  });

  it("that is Committing leaves what is in, and keeps what was there before where it can be found", async () => {
    const place = await workspace();
    await createAbc(place);
    await place.create(secret("key", { key: "old" }));
    const { hook, reached, open } = gate(isChangeOf("b"));
    const { hook: keep, requests } = recording();
    await place.janus(keep, hook);
    await place.submit([...abc, deleting(secret("key"))]);
    await reached;
    await place.remove(transaction("txn"));
    await place.seen();
    open();
    await isGone(place);
    expect(await values(place)).toEqual(["new", "new", "old"]);
    expect(requests.filter(({ purpose }) => purpose === "restore")).toEqual([]);
    expect(await place.exists(secret("key"))).toBe(true);

    expect(await place.names("coordination.k8s.io/v1", "Lease")).toEqual([]);
    for (const kind of ["ConfigMap", "Secret"]) {
      const stores = (await administrator.list({ apiVersion: "v1", kind }, place.namespace)).filter(
        ({ metadata }) => metadata.labels?.["janus.io/orphaned"] === "true",
      );
      expect(stores).toMatchObject([
        { metadata: { labels: { "janus.io/transaction": "txn", "app.kubernetes.io/managed-by": "janus" } } },
      ]);
      expect(stores[0]?.metadata).not.toHaveProperty("ownerReferences");
      expect(stores[0]?.metadata).not.toHaveProperty("finalizers");
    }
    const kept = await place.read(configMap("txn-rollback"));
    expect(Object.values(kept["data"] as Record<string, string>).join()).toContain('"data":{"value":"old"}');
  });

  it("that is RollingBack leaves what is not rolled back yet, and keeps what was there before", async () => {
    const place = await workspace();
    await createAbc(place);
    await allowOneService(place);
    const { hook, reached, open } = gate(({ purpose }) => purpose === "restore");
    await place.janus(hook);
    await place.submit([...abc, ...oneTooMany]);
    await reached;
    await place.remove(transaction("txn"));
    await place.seen();
    open();
    await isGone(place);
    expect(await values(place)).toEqual(["new", "new", "new"]);
    expect((await place.read(configMap("txn-rollback"))).metadata.labels).toMatchObject({
      "janus.io/orphaned": "true",
    });
    expect(await place.names("coordination.k8s.io/v1", "Lease")).toEqual([]);
  });

  it("that is over is nobody's business but the API server's", async () => {
    const place = await workspace();
    await createAbc(place);
    await place.janus();
    await place.run(abc);
    await place.remove(transaction("txn"));
    await isGone(place);
    expect(await values(place)).toEqual(["new", "new", "new"]);
  });
});

it("never blocks the deletion of its namespace, in whatever phase its Transactions are", async () => {
  const place = await workspace();
  await createAbc(place);
  await allowOneService(place);
  await holdLock(place, "held");
  await place.create(configMap("held"));
  const { hook, reached, open } = gate(isChangeOf("b"));
  const { hook: keep, requests } = recording();
  await place.janus(keep, hook);
  await place.run(oneTooMany, { name: "rolled-back" });
  await place.submit([patching(configMap("held", { value: "new" }))], { name: "waiting" });
  await place.submit(abc, { name: "committing" });
  await reached;
  await expect.poll(() => requests.some(({ purpose }) => purpose === "read-lock")).toBe(true);
  await administrator.remove(namespaceOf(place.namespace));
  // Everything in it is being deleted by now, ours included, and nothing can be created any more.
  await expect.poll(async () => (await place.txn("committing")).metadata.deletionTimestamp).toBeDefined();
  open();
  await expect.poll(() => place.names("backup.janus.io/v1alpha1", "Transaction")).toEqual([]);
  await expect.poll(() => ours(place)).toEqual([]);
});

it.each(["lock", "store"])(
  "leaves nothing of its own behind where a create (%s) was not answered, and lands after everything was cleaned up",
  async (purpose) => {
    const place = await workspace({ margin: 5000 });
    await createAbc(place);
    const landed = Promise.withResolvers<unknown>();
    let land: (() => void) | undefined;
    await place.janus(async (request, next) => {
      if (land === undefined && request.purpose === purpose) {
        land = () => landed.resolve(next(request));
        return E.left({ type: "unanswered", cause: "deadline", message: "held up in the network" });
      }
      return next(request);
    });
    await place.submit(abc);
    const remains = async () => [...(await ours(place)), ...(await place.names("coordination.k8s.io/v1", "Lease"))];
    const phase = async () => (await place.txn()).status.phase;
    await expect.poll(phase).toBe("Committed");
    // The journal stays until nothing can land any more.
    await expect.poll(async () => (await remains()).filter((name) => !name.includes("journal"))).toEqual([]);
    land?.();
    expect(await landed.promise).toMatchObject(E.right({}));
    await place.over();
    expect(await remains()).toEqual([]);
  },
);
