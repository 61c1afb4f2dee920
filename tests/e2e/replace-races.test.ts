import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { creating, patching, replacing } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
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

it("leaves what others have created between its two writes, if the controller crashes there", async () => {
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

it("is released with its snapshot if the Transaction is deleted between its two writes", async () => {
  const place = await workspace();
  await place.create(sealed("1"));
  await diesAtCheckpoint(1, place, [replacing(sealed("2"))]);
  await place.remove(transaction("txn"));
  await place.janus();
  await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
  // As documented: the target may be absent, and the snapshot is kept.
  expect(await place.names("v1", "ConfigMap")).toContain("txn-rollback");
  expect(await leases(place)).toEqual([]);
});

it("is rolled back on request when the finalizers that delay its deletion are gone", async () => {
  const place = await workspace();
  await place.create(sealed("1", { finalizers: ["example.com/held"] }));
  await place.janus();
  await place.submit([replacing(sealed("2"))]);
  await expect.poll(() => ready(place)).toContain("delayed by its finalizers");
  await rollback(place);
  await expect.poll(() => ready(place)).toContain("waiting for the finalizers of ConfigMap");
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: [] } });
  const txn = await place.over();
  expect(txn.status.phase).toBe("RolledBack");
  expect(await data(place)).toEqual({ a: "1" });
  expect((await place.read(configMap("app"))).metadata.finalizers).toEqual(["example.com/held"]);
});

it("is released if the Transaction is deleted while finalizers delay its deletion", async () => {
  const place = await workspace();
  await place.create(sealed("1", { finalizers: ["example.com/held"] }));
  await place.janus();
  await place.submit([replacing(sealed("2"))]);
  await expect.poll(() => ready(place)).toContain("delayed by its finalizers");
  await place.remove(transaction("txn"));
  await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: [] } });
  await expect.poll(() => place.exists(configMap("app"))).toBe(false);
  expect(await place.names("v1", "ConfigMap")).toContain("txn-rollback");
});

it("waits, in a rollback, for the finalizers that others have put on the replacement", async () => {
  const place = await workspace();
  await place.create(sealed("1"));
  await place.janus();
  await place.submit([replacing(sealed("2"))], { rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: ["example.com/new"] } });
  await rollback(place);
  await expect.poll(() => ready(place)).toContain("waiting for the finalizers of ConfigMap");
  await place.patch({ ...configMap("app"), metadata: { name: "app", finalizers: [] } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  expect(await data(place)).toEqual({ a: "1" });
});

it("says what the garbage collector has taken with an owner that was replaced", async () => {
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
      await vi.waitUntil(async () => !(await place.exists(configMap("dependent"))), { timeout: 300_000 });
      await place.create(configMap("taken", { a: "theirs" }));
    }
    return send(request);
  });
  const txn = await place.run([
    patching(configMap("dependent", { a: "2" })),
    replacing(sealed("2")),
    creating(configMap("taken")),
  ]);
  expect(await data(place)).toEqual({ a: "1" });
  // The garbage collector has taken the dependent with its owner: said, not hidden.
  expect(txn.status.phase).toBe("Failed");
});

it("is put back if a gate of the replacement fails", async () => {
  const place = await workspace();
  await place.create(sealed("1"));
  await place.janus();
  const txn = await place.run([{ ...replacing(sealed("2")), waitFor: ["jsonpath={.data.b}=x"], waitTimeout: "2s" }]);
  expect(txn.status.phase).toBe("RolledBack");
  expect(await data(place)).toEqual({ a: "1" });
});

it("conflicts with who deletes or recreates its target before its turn", async () => {
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

it("tells what it has made from what others have, where answers are lost", async () => {
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

it("is put back where the answer to its deletion is lost, and a later change fails", async () => {
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
