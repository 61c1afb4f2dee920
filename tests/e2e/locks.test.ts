import { lockLease, REQUEST_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, lease } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { refusing, unavailable } from "../fixtures/refusing.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

const lockOf = (namespace: string, name: string): string =>
  lockLease({ group: "", kind: "ConfigMap", namespace, name });

const both = (value: string) => [patching(configMap("a", { value })), patching(configMap("b", { value }))];

/** A promise that is kept from outside. */
const signal = () => Promise.withResolvers<void>();

it("never lets two Transactions over the same targets interleave, and tells the second one whom it waits for", async () => {
  const { namespace, create, janus, submit, over, read } = await workspace();
  await create(configMap("a"), configMap("b"));
  const [half, goOn] = [signal(), signal()];
  const order: string[] = [];
  await janus(async (request, next) => {
    if (request.purpose === "change" && request.verb === "apply") {
      order.push(`${request.fieldManager.slice("janus-".length, "janus-first".length)} ${request.name}`);
      if (order.length === 2) {
        half.resolve();
        await goOn.promise;
      }
    }
    return next(request);
  });
  await submit(both("1"), { name: "first" });
  await half.promise;
  // In the opposite order, where each could hold what the other one needs.
  await submit(both("2").toReversed(), { name: "later" });

  const told = async () => (await eventsOf(namespace, "later")).filter(({ reason }) => reason === "LockWaiting");
  await expect.poll(told).toHaveLength(1);
  expect((await told())[0]?.message).toMatch(
    new RegExp(
      `^waiting for ConfigMap ${namespace}/[ab]: Transaction ${namespace}/first has locked it \\(Lease ${namespace}/.*\\)$`,
    ),
  );
  expect(order).toHaveLength(2);

  goOn.resolve();
  expect((await over("first")).status.phase).toBe("Committed");
  expect((await over("later")).status.phase).toBe("Committed");
  expect(order).toEqual(["first a", "first b", "later b", "later a"]);
  expect([await read(configMap("a")), await read(configMap("b"))]).toMatchObject([
    { data: { value: "2" } },
    { data: { value: "2" } },
  ]);
});

it("lets many Transactions over the same targets through, one after the other", async () => {
  const { create, janus, submit, over, names } = await workspace();
  const targets = ["a", "b", "c"];
  await create(...targets.map((name) => configMap(name)));
  const { hook, requests } = recording();
  await janus(hook);
  const transactions = ["t0", "t1", "t2"];
  for (const [n, name] of transactions.entries()) {
    const rotated = [...targets.slice(n % 3), ...targets.slice(0, n % 3)];
    await submit(
      rotated.map((target) => patching(configMap(target, { by: name }))),
      { name },
    );
  }
  for (const name of transactions) expect((await over(name)).status.phase).toBe("Committed");
  const order = requests.flatMap((request) =>
    request.purpose === "change" && request.verb === "apply" ? [request.fieldManager.slice(6, 8)] : [],
  );
  const turns = order.filter((name, at) => name !== order[at - 1]);
  expect(turns.toSorted()).toEqual(transactions);
  expect(await names("coordination.k8s.io/v1", "Lease")).toEqual([]);
});

it.each([
  ["has vanished", "gone", "00000000-0000-0000-0000-000000000000"],
  ["has given way to another one of its name", "txn-before", "00000000-0000-0000-0000-000000000000"],
  ["is finished", "txn-before", undefined],
])("takes over at once the lock of a Transaction that %s", async (_, name, uid) => {
  const { namespace, create, janus, run } = await workspace();
  await create(configMap("a"));
  await janus();
  const former = await run([patching(configMap("a", { by: "before" }))], { name: "txn-before" });
  const holderIdentity = `${namespace}/${name}/${uid ?? former.metadata.uid}`;
  await create(lease(lockOf(namespace, "a"), { holderIdentity, leaseDurationSeconds: 3600 }));
  const { status } = await run([patching(configMap("a", { by: "after" }))]);
  expect(status.phase).toBe("Committed");
  expect((await eventsOf(namespace, "txn")).map(({ reason }) => reason)).not.toContain("LockWaiting");
});

it("does not take over by expiry the lock of a Transaction that is still at work", async () => {
  const { namespace, create, janus, submit, txn, over, patch } = await workspace();
  await create(configMap("a"));
  const { hook, reached, open } = gate((request) => request.verb === "apply" && request.fieldManager.includes("first"));
  await janus(hook);
  await submit([patching(configMap("a", { by: "first" }))], { name: "first" });
  await reached;
  // As it would look if its renewals had not come through for an hour.
  await patch(lease(lockOf(namespace, "a"), { leaseDurationSeconds: 1, renewTime: "2020-01-01T00:00:00.000000Z" }));
  await submit([patching(configMap("a", { by: "second" }))], { name: "second" });
  await expect
    .poll(async () => (await eventsOf(namespace, "second")).map(({ reason }) => reason))
    .toContain("LockWaiting");
  expect((await txn("second")).status.phase).toBe("Preparing");
  open();
  expect((await over("first")).status.phase).toBe("Committed");
  expect((await over("second")).status.phase).toBe("Committed");
});

it("respects another client's Lease while it is renewed, and takes it over when it has expired by the local clock", async () => {
  const { namespace, create, patch, janus, submit, txn, over, read } = await workspace();
  await create(configMap("a"));
  const name = lockOf(namespace, "a");
  // By its own times it has expired long ago: whose clock is wrong cannot be known.
  const former = { holderIdentity: "somebody", leaseDurationSeconds: 2, renewTime: "2020-01-01T00:00:00.000000Z" };
  await create(lease(name, former));
  const { hook, requests } = recording();
  await janus(hook);
  await submit([patching(configMap("a", { by: "us" }))]);

  const looks = () => requests.filter(({ purpose }) => purpose === "read-lock").length;
  for (let renewals = 1; renewals <= 3; renewals++) {
    await patch(lease(name, { renewTime: `2020-01-01T00:00:0${renewals}.000000Z` }));
    const before = looks();
    await expect.poll(looks).toBeGreaterThan(before);
  }
  expect((await txn()).status.phase).toBe("Preparing");
  expect(await read(lease(name))).toMatchObject({ spec: { holderIdentity: "somebody" } });
  expect((await eventsOf(namespace, "txn")).find(({ reason }) => reason === "LockWaiting")?.message).toBe(
    `waiting for ConfigMap ${namespace}/a: Lease ${namespace}/${name} is held by somebody`,
  );
  const since = performance.now();
  expect((await over()).status.phase).toBe("Committed");
  expect(performance.now() - since).toBeGreaterThan(1000);
  await expect.poll(() => read(lease(name)).catch(() => "gone")).toBe("gone");
});

it("stops and rolls everything back when it has lost a lock", async () => {
  const { namespace, create, remove, janus, submit, over, read } = await workspace();
  await create(configMap("a"), configMap("b"), configMap("c"));
  const { hook, requests } = recording();
  const lost = signal();
  await janus(hook, async (request, next) => {
    if (isChangeOf("b")(request)) {
      await remove(lease(lockOf(namespace, "a")));
      await lost.promise;
    }
    const answer = await next(request);
    if (request.purpose === "read-lock") lost.resolve();
    return answer;
  });
  await submit(
    ["a", "b", "c"].map((name) => patching(configMap(name, { value: "1" }))),
    { lockTimeout: "1s" },
  );
  const { status } = await over();
  expect(status.phase).toBe("RolledBack");
  expect(status.conditions.find(({ type }) => type === "Stalled")).toMatchObject({
    reason: "LockRenewalFailed",
    message: expect.stringContaining(`the lock on ConfigMap ${namespace}/a was lost`) as string,
  });
  expect(requests.filter(isChangeOf("c"))).toEqual([]);
  for (const name of ["a", "b", "c"]) expect((await read(configMap(name)))["data"]).toEqual(undefined);
});

it("holds locks that live in the target's namespace and name the Transaction", async () => {
  const { namespace, create, janus, submit, over, read } = await workspace();
  await create(configMap("a"));
  const { hook, reached, open } = gate(isChangeOf("a"));
  await janus(hook);
  const { metadata } = await submit([patching(configMap("a", { value: "1" }))]);
  await reached;
  expect(await read(lease(`janus-lock-${namespace}-configmap-a`))).toMatchObject({
    metadata: { labels: { "app.kubernetes.io/managed-by": "janus", "janus.io/transaction": "txn" } },
    spec: { holderIdentity: `${namespace}/txn/${metadata.uid}`, leaseDurationSeconds: 300 },
  });
  open();
  await over();
});

it("raises a lockTimeout in which no write fits, and says so", async () => {
  const { namespace, create, janus, submit, over, read } = await workspace();
  await create(configMap("a"));
  const { hook, reached, open } = gate(isChangeOf("a"));
  await janus(hook);
  await submit([patching(configMap("a", { value: "1" }))], { lockTimeout: "1s" });
  await reached;
  const { spec } = await read(lease(lockOf(namespace, "a")));
  open();
  // Three times the write timeout of the tests, and a little for the renewals.
  expect(spec).toMatchObject({ leaseDurationSeconds: 7 });
  const { status } = await over();
  expect(status.phase).toBe("Committed");
  const told = async () => (await eventsOf(namespace, "txn")).map(({ message }) => message).join("\n");
  await expect
    .poll(told)
    .toContain("lock duration raised to 7s: lockTimeout (1s) leaves too little time for a write (2s)");
});

it("says at its timeout what it was waiting for", async () => {
  const { namespace, create, janus, run } = await workspace();
  await create(
    configMap("a"),
    lease(lockOf(namespace, "a"), { holderIdentity: "somebody", leaseDurationSeconds: 3600 }),
  );
  await janus();
  const { status } = await run([patching(configMap("a", { value: "1" }))], { timeout: "4s" });
  expect(status.phase).toBe("Failed");
  expect(status.conditions.find(({ type }) => type === "Ready")?.message).toBe(
    "no changes were applied: spec.timeout passed before all checks were done, " +
      `waiting for ConfigMap ${namespace}/a: Lease ${namespace}/${lockOf(namespace, "a")} is held by somebody; ` +
      "create the Transaction again",
  );
});

it("says at its timeout what it was waiting for then, of which its status had not told yet", async () => {
  const { namespace, create, remove, janus, submit, txn, over } = await workspace();
  const held = (name: string, holderIdentity: string) =>
    lease(lockOf(namespace, name), { holderIdentity, leaseDurationSeconds: 3600 });
  await create(configMap("a"), configMap("b"), held("b", "another"));
  await janus();
  let count = 0;
  const saidAtTimeout = async (): Promise<string> => {
    const name = `txn-${count++}`;
    const ready = async () => (await txn(name)).status?.conditions.find(({ type }) => type === "Ready")?.message ?? "";
    await create(held("a", "somebody"));
    await submit(both("1"), { name, timeout: "9s" });
    await expect.poll(ready).toContain("is held by somebody");
    await remove(held("a", "somebody"));
    await over(name);
    return ready();
  };
  // A busy machine may need the nine seconds for less than that: then again.
  await expect
    .poll(saidAtTimeout)
    .toMatch(/spec\.timeout passed before all checks were done(?:.|\n)*is held by another/u);
});

it("examines its targets again once it has its locks back: what the other one has deleted meanwhile is not found", async () => {
  const place = await workspace();
  await place.create(configMap("other"));
  const list = refusing(({ verb, purpose }) => verb === "list" && purpose === "find-owned", Number.POSITIVE_INFINITY);
  await place.janus(list.hook);
  await place.submit([creating(configMap("made"))], { name: "maker", rollbackWindow: "1h" });
  const ready = async (name: string) =>
    (await place.txn(name)).status.conditions.find(({ type }) => type === "Ready")?.message;
  await expect.poll(() => ready("maker")).toContain("can be rolled back until");

  // It has its locks, and its dry runs, and waits.
  await place.submit([patching(configMap("made", { by: "user" })), deleting(configMap("other"))], { name: "user" });
  await expect.poll(() => ready("user")).toContain("trying again to list");
  await place.patch({ ...transaction("maker"), metadata: { name: "maker", annotations: { [REQUEST_ROLLBACK]: "" } } });
  expect((await place.over("maker")).status.phase).toBe("RolledBack");
  list.stop();

  const user = await place.over("user");
  expect(user.status.phase).toBe("Failed");
  expect(user.status.items[0]?.error).toContain("not found");
  expect(await place.names("coordination.k8s.io/v1", "Lease")).toEqual([]);
  expect(await place.exists(configMap("other"))).toBe(true);
});

it("gets on after a restart, where a Transaction holds a lock that one before it in the queue wants", async () => {
  const { namespace, create, janus, submit, txn, read, remove } = await workspace();
  await create(configMap("a"), configMap("b"));
  const ofSomebody = lease(lockOf(namespace, "a"), { holderIdentity: "somebody", leaseDurationSeconds: 3600 });
  await create(ofSomebody);
  // The second one gets no further than to its lock.
  const former = await janus(async (request, next) =>
    request.purpose === "dry-run" && "name" in request && request.name === "b" ? E.left(unavailable) : next(request),
  );
  await submit(both("1"), { name: "first" });
  const saysFirst = async () => JSON.stringify((await txn("first")).status?.conditions);
  await expect.poll(saysFirst).toContain("waiting for ConfigMap");
  // The time of a start has seconds: it is later.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await submit([patching(configMap("b", { value: "2" }))], { name: "second" });
  const holder = async () => JSON.stringify((await read(lease(lockOf(namespace, "b"))))["spec"]);
  await expect.poll(() => holder().catch(() => "")).toContain("/second/");
  await former.stop();
  await remove(ofSomebody);
  // The next process happens to begin with the first one.
  await janus(async (request, next) => {
    if (request.purpose === "read-transaction" && "name" in request && request.name === "second")
      await new Promise((resolve) => setTimeout(resolve, 1500));
    return next(request);
  });
  const phases = async () => [(await txn("first")).status?.phase, (await txn("second")).status?.phase];
  await expect.poll(phases).toEqual(["Committed", "Committed"]);
});
