import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { creating, patching, replacing } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, roleBinding } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const sealed = (a: string, metadata: object = {}): Manifest => ({
  ...configMap("app", { a }),
  metadata: { name: "app", ...metadata },
  immutable: true,
});
const ready = async (place: Workspace): Promise<string> =>
  (await place.txn()).status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
const data = async (place: Workspace, name = "app"): Promise<unknown> =>
  (await place.exists(configMap(name))) ? (await place.read(configMap(name)))["data"] : undefined;
const leases = async (place: Workspace): Promise<readonly string[]> =>
  (await place.names("coordination.k8s.io/v1", "Lease")).filter((name) => name.startsWith("janus-lock"));
const rollback = (place: Workspace) =>
  place.patch({
    ...transaction("txn"),
    metadata: { name: "txn", annotations: { "backup.janus.io/request-rollback": "now" } },
  });

/** Dies at the n-th checkpoint, before or after it was sent. */
const diesAtCheckpoint = async (
  count: number,
  place: Workspace,
  changes: Parameters<Workspace["submit"]>[0],
  options = {},
): Promise<void> => {
  let checkpoints = 0;
  const { hook, reached, open } = gate(({ purpose }) => {
    if (purpose === "checkpoint") checkpoints += 1;
    return checkpoints >= count;
  });
  const dying = await place.janus(hook);
  onTestFinished(open);
  await place.submit(changes, options);
  await reached;
  void dying.stop();
};

it.fails("1 replaces the very RoleBinding that allows it", { timeout: 70_000 }, async () => {
  const place = await workspace();
  const before = roleBinding("deployer", "ClusterRole", "admin", `${place.namespace}/deployer`);
  await place.janus();
  await place
    .run([replacing(roleBinding("deployer", "ClusterRole", "edit", `${place.namespace}/deployer`))], { timeout: "10s" })
    .catch(async () => place.txn());
  const there = await place.exists(before);
  expect(there).toBe(true);
});

it("2 crash between the two writes, others create theirs", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"), configMap("other", { a: "old" }));
  await diesAtCheckpoint(2, place, [patching(configMap("other", { a: "new" })), replacing(sealed("2"))]);
  await place.create(configMap("app", { a: "theirs" }));
  await place.janus();
  const txn = await place.over();
  expect(await data(place)).toEqual({ a: "theirs" });
  expect(await data(place, "other")).toEqual({ a: "old" });
  expect(txn.status.phase).not.toBe("Committed");
  expect(await leases(place)).toEqual([]);
});

it("3 crash between the two writes, Transaction deleted", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"));
  await diesAtCheckpoint(1, place, [replacing(sealed("2"))]);
  await place.remove(transaction("txn"));
  await place.janus();
  await expect.poll(() => place.exists(transaction("txn")), { timeout: 30_000 }).toBe(false);
  // As documented: the target may be absent, and the snapshot is kept.
  expect(await place.names("v1", "ConfigMap")).toContain("txn-rollback");
  expect(await leases(place)).toEqual([]);
});

it("4 request-rollback while finalizers delay the delete", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1", { finalizers: ["example.com/held"] }));
  await place.janus();
  await place.submit([replacing(sealed("2"))]);
  await expect.poll(() => ready(place), { timeout: 20_000 }).toContain("delayed by its finalizers");
  await rollback(place);
  await new Promise((done) => setTimeout(done, 2500));
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: [] } });
  const txn = await place.over();
  expect(txn.status.phase).toBe("RolledBack");
  expect(await data(place)).toEqual({ a: "1" });
  expect((await place.read(configMap("app"))).metadata.finalizers).toEqual(["example.com/held"]);
});

it("5 Transaction deleted while finalizers delay the delete", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1", { finalizers: ["example.com/held"] }));
  await place.janus();
  await place.submit([replacing(sealed("2"))]);
  await expect.poll(() => ready(place), { timeout: 20_000 }).toContain("delayed by its finalizers");
  await place.remove(transaction("txn"));
  await new Promise((done) => setTimeout(done, 2500));
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: [] } });
  await expect.poll(() => place.exists(transaction("txn")), { timeout: 30_000 }).toBe(false);
  expect(await place.names("v1", "ConfigMap")).toContain("txn-rollback");
});

it.fails("6 rollback in the window: others have replaced the replacement", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"), configMap("other", { a: "old" }));
  await place.janus();
  await place.submit([patching(configMap("other", { a: "new" })), replacing(sealed("2"))], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase, { timeout: 20_000 }).toBe("Committed");
  const copy = await place.read(configMap("app"));
  await place.remove(configMap("app"));
  // A backup of theirs, with its managedFields.
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } = copy.metadata as Record<string, unknown>;
  await place.create({ ...copy, metadata, data: { a: "theirs" } } as unknown as Manifest);
  await rollback(place);
  await expect
    .poll(async () => (await place.txn()).status?.phase, { timeout: 20_000 })
    .not.toMatch(/Committed|RollingBack/u);
  const txn = await place.txn();
  expect(await data(place)).toEqual({ a: "theirs" });
  expect(txn.status.phase).not.toBe("RolledBack");
});

it("7 rollback in the window: the replacement has finalizers of others", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"));
  await place.janus();
  await place.submit([replacing(sealed("2"))], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase, { timeout: 20_000 }).toBe("Committed");
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: ["example.com/new"] } });
  await rollback(place);
  await new Promise((done) => setTimeout(done, 3000));
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: [] } });
  await expect.poll(async () => (await place.txn()).status?.phase, { timeout: 30_000 }).toBe("RolledBack");
  expect(await data(place)).toEqual({ a: "1" });
});

it("8 an owner is replaced, its dependent patched, and it is rolled back", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const [owner] = await place.create(sealed("1"));
  const dependent = (a: string): Manifest => ({
    ...configMap("dependent", { a }),
    metadata: {
      name: "dependent",
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "app", uid: owner?.metadata.uid ?? "" }],
    },
  });
  await place.create(dependent("1"), configMap("taken"));
  await place.remove(configMap("taken"));
  await place.janus(async (request, send) => {
    if (request.purpose === "change" && isChangeOf("taken")(request)) {
      await new Promise((done) => setTimeout(done, 3000));
      await place.create(configMap("taken", { a: "theirs" }));
    }
    return send(request);
  });
  const txn = await place.run([
    patching(configMap("dependent", { a: "2" })),
    replacing(sealed("2")),
    creating(configMap("taken")),
  ]);
  await new Promise((done) => setTimeout(done, 4000));
  expect(await data(place)).toEqual({ a: "1" });
  // The garbage collector has taken the dependent with its owner: said, not hidden.
  expect(txn.status.phase).toBe("Failed");
});

it("9 a gate on a replacement fails", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"));
  await place.janus();
  const txn = await place
    .run([{ ...replacing(sealed("2")), waitFor: ["jsonpath={.data.b}=x"], waitTimeout: "2s" } as never])
    .catch((error: unknown) => {
      console.log("9 refused", String(error));
      throw error;
    });
  expect(txn.status.phase).toBe("RolledBack");
  expect(await data(place)).toEqual({ a: "1" });
});

it("10 one that is gone before its turn; one that is recreated before its turn", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"), configMap("first", { a: "1" }));
  let done = false;
  await place.janus(async (request, send) => {
    if (!done && isChangeOf("first")(request)) {
      done = true;
      await place.remove(sealed("1"));
      await place.create(sealed("theirs"));
    }
    return send(request);
  });
  const txn = await place.run([patching(configMap("first", { a: "2" })), replacing(sealed("2"))]);
  expect(await data(place)).toEqual({ a: "theirs" });
  expect(txn.status.phase).toBe("RolledBack");
});

it("11 the lost answer of the create, and of the delete", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"), configMap("taken"));
  await place.remove(configMap("taken"));
  const lost = new Set<string>();
  await place.janus(async (request, send) => {
    if (isChangeOf("taken")(request)) await place.create(configMap("taken", { a: "theirs" }));
    const answer = await send(request);
    if (request.purpose === "change" && isChangeOf("app")(request) && !lost.has(request.verb)) {
      lost.add(request.verb);
      if (request.verb === "create") {
        // Somebody deletes it, and makes their own, while the answer is lost.
        await place.remove(configMap("app"));
        await place.create(configMap("app", { a: "theirs" }));
      }
      return E.left({ type: "unanswered", cause: "connection", message: "the reply was lost" });
    }
    return answer;
  });
  const txn = await place.run([replacing(sealed("2")), creating(configMap("taken"))]);
  expect(await data(place)).toEqual({ a: "theirs" });
  expect(txn.status.phase).toBe("Failed");
});

it("12 the answer of the delete is lost, and a later change fails", { timeout: 70_000 }, async () => {
  const place = await workspace();
  await place.create(sealed("1"));
  let isLost = false;
  await place.janus(async (request, send) => {
    if (isChangeOf("taken")(request)) await place.create(configMap("taken", { a: "theirs" }));
    const answer = await send(request);
    if (isLost || !isChangeOf("app")(request) || request.verb !== "delete") return answer;
    isLost = true;
    return E.left({ type: "unanswered", cause: "connection", message: "the reply was lost" });
  });
  const txn = await place.run([replacing(sealed("2")), creating(configMap("taken"))]);
  expect(await data(place)).toEqual({ a: "1" });
  expect(txn.status.phase).toBe("RolledBack");
});
