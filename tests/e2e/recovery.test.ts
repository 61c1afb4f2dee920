import { FINALIZER, REQUEST_YIELD, lockLease, type Phase, RETRY_ROLLBACK } from "@janus/api";
import type { Hook } from "@janus/kube";
import { expect, it, onTestFinished } from "vitest";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, lease } from "../fixtures/manifests.ts";
import { allowOneService, forbidConfigMaps, oneTooMany } from "../fixtures/quota.ts";
import { recording } from "../fixtures/recording.ts";
import { type Running, transaction, type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const NAMES = ["a", "b", "c"];
const changes = [...NAMES.map((name) => patching(configMap(name, { value: "new" }))), creating(configMap("last"))];

const values = ({ read }: Workspace) =>
  Promise.all(NAMES.map(async (name) => ((await read(configMap(name)))["data"] as { value: string }).value));

/** Before the last change is made, which fails by that, a person takes `c` over. */
const takesOver =
  ({ patch, create }: Workspace): Hook =>
  async (request, next) => {
    if (isChangeOf("last")(request)) {
      await patch(configMap("c", { value: "theirs" }));
      await create(configMap("last", { whose: "somebody's" }));
    }
    return next(request);
  };

const givesBack = ({ patch }: Workspace) => patch(configMap("c", { value: "old" }));

const asksAgain = ({ patch }: Workspace) =>
  patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [RETRY_ROLLBACK]: "please" } } });

/** A workspace whose Transaction has Failed, because `c` cannot be rolled back. */
const failed = async (settings: { readonly recoveryDelay?: number } = {}, ...hooks: readonly Hook[]) => {
  const place = await workspace(settings);
  await place.create(...NAMES.map((name) => configMap(name, { value: "old" })));
  const running = await place.janus(...hooks, takesOver(place));
  return { place, running, txn: await place.run(changes) };
};

/** The Transaction when it has got so far, and nothing of ours is left on it. */
const ended = async (place: Workspace, phase: Phase): Promise<Txn> => {
  await expect.poll(async () => (await place.txn()).status.phase).toBe(phase);
  return place.over();
};

const annotated = ({ metadata }: Txn): boolean => metadata.annotations?.[RETRY_ROLLBACK] !== undefined;

/** The Transaction when the request for another attempt is answered. */
const answered = async (place: Workspace): Promise<Txn> => {
  await expect.poll(async () => annotated(await place.txn())).toBe(false);
  return place.over();
};

const told = async ({ namespace }: Workspace, reason: string): Promise<readonly string[]> =>
  (await eventsOf(namespace, "txn")).filter((event) => event.reason === reason).map(({ message }) => message);

const journals = async ({ names }: Workspace) =>
  (await names("v1", "ConfigMap")).filter((name) => name.includes("journal"));

const leases = ({ names }: Workspace) => names("coordination.k8s.io/v1", "Lease");

const store = configMap("txn-rollback");

it("rolls back what it can, reports the rest, and keeps the snapshots of that", async () => {
  const { place, txn } = await failed();
  expect(txn.status).toMatchObject({
    phase: "Failed",
    items: [
      { committed: true, rolledBack: true },
      { committed: true, rolledBack: true },
      { committed: true, rolledBack: false, error: expect.stringContaining(".data.value") as string },
      { committed: false },
    ],
  });
  expect(await values(place)).toEqual(["old", "old", "theirs"]);
  expect(txn.metadata.finalizers ?? []).toEqual([]);
  expect(await leases(place)).toEqual([]);
  expect(await journals(place)).toHaveLength(1);
  const { metadata } = await place.read(store);
  // Nothing but a person takes it away, and it holds up nobody.
  expect(metadata).not.toHaveProperty("ownerReferences");
  expect(metadata).not.toHaveProperty("finalizers");
});

it("rolls back the rest on request, with the finalizer and the locks again, and cleans up", async () => {
  const { hook, requests } = recording();
  const { place } = await failed({}, hook);
  await givesBack(place);
  const before = requests.length;
  await asksAgain(place);
  const txn = await ended(place, "RolledBack");

  expect(annotated(txn)).toBe(false);
  expect(await values(place)).toEqual(["old", "old", "old"]);
  expect(txn.status.items).toMatchObject([
    { rolledBack: true },
    { rolledBack: true },
    { rolledBack: true },
    { rolledBack: true },
  ]);
  const since = requests.slice(before);
  const first = (purpose: string) => since.findIndex((request) => request.purpose === purpose);
  expect(JSON.stringify(since[first("finalizer")])).toContain(FINALIZER);
  expect(first("record")).toBeGreaterThan(first("finalizer"));
  expect(first("lock")).toBeGreaterThan(first("record"));
  expect(first("read-target")).toBeGreaterThan(first("lock"));
  await expect
    .poll(() => told(place, "RecoveryInitiated"))
    .toEqual([expect.stringContaining(RETRY_ROLLBACK) as string]);

  expect(await leases(place)).toEqual([]);
  expect(await journals(place)).toEqual([]);
  const { metadata } = await place.read(store);
  expect(metadata.ownerReferences).toMatchObject([{ kind: "Transaction", name: "txn", uid: txn.metadata.uid }]);
});

it("has priority over a Transaction that has applied nothing and holds what it needs", async () => {
  const { place } = await failed();
  const lock = (name: string) => lockLease({ group: "", kind: "ConfigMap", namespace: place.namespace, name });
  // The other one holds a and c, and waits for d, for ever.
  await place.create(configMap("d"), lease(lock("d"), { holderIdentity: "somebody", leaseDurationSeconds: 3600 }));
  const other = ["a", "c", "d"].map((name) => patching(configMap(name, { value: "other" })));
  const { metadata } = await place.submit(other, { name: "other" });
  const waits = async () => (await eventsOf(place.namespace, "other")).map(({ message }) => message).join("\n");
  await expect.poll(waits).toContain("is held by somebody");
  expect((await place.read(lease(lock("c"))))["spec"]).toMatchObject({
    holderIdentity: `${place.namespace}/other/${metadata.uid}`,
  });

  await givesBack(place);
  await asksAgain(place);
  await ended(place, "RolledBack");
  expect(await values(place)).toEqual(["old", "old", "old"]);
  await expect.poll(waits).toContain(`yielding to Transaction ${place.namespace}/txn, which is rolling back`);
  expect((await place.txn("other")).status.phase).toBe("Preparing");

  await place.remove(lease(lock("d")));
  const { status, metadata: after } = await place.over("other");
  expect(status.phase).toBe("Committed");
  expect(after.annotations ?? {}).not.toHaveProperty(REQUEST_YIELD);
  expect(await values(place)).toEqual(["other", "old", "other"]);
});

it("retries automatically, and ends as RolledBack once nothing blocks it", async () => {
  const { place } = await failed({ recoveryDelay: 300 });
  await givesBack(place);
  const txn = await ended(place, "RolledBack");
  expect(await values(place)).toEqual(["old", "old", "old"]);
  expect(await leases(place)).toEqual([]);
  expect(await journals(place)).toEqual([]);
  expect((await place.read(store)).metadata.ownerReferences).toMatchObject([{ uid: txn.metadata.uid }]);
});

it("creates what it could not create again as soon as that is possible", async () => {
  const place = await workspace({ recoveryDelay: 500 });
  await place.create(configMap("gone", { value: "old" }));
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) await forbidConfigMaps(place);
    return next(request);
  });
  const { status } = await place.run([deleting(configMap("gone")), creating(configMap("last"))]);
  expect(status).toMatchObject({
    phase: "Failed",
    items: [{ committed: true, rolledBack: false, error: expect.stringContaining("exceeded quota") as string }, {}],
  });
  await place.remove({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "few-configmaps" } });
  await ended(place, "RolledBack");
  expect((await place.read(configMap("gone")))["data"]).toEqual({ value: "old" });
  expect(await leases(place)).toEqual([]);
});

it("retries a bounded number of times, each time after a longer pause, then only on request", async () => {
  const recoveryDelay = 20;
  const began: number[] = [];
  const over: number[] = [];
  const { place, running } = await failed({ recoveryDelay }, async (request, next) => {
    const written = "body" in request ? JSON.stringify(request.body) : "";
    if (request.purpose === "record" && written.includes('"reason":"RecoveryInitiated"')) began.push(Date.now());
    if (request.purpose === "record" && written.includes('"phase":"Failed"')) over.push(Date.now());
    return next(request);
  });
  await expect.poll(() => told(place, "RecoveryBlocked")).toHaveLength(1);
  expect(await place.over()).toMatchObject({ status: { phase: "Failed", recovery: { attempts: 5 } } });
  expect((await told(place, "RecoveryInitiated")).map((text) => text.slice(0, 14))).toEqual(
    [1, 2, 3, 4, 5].map((attempt) => `attempt ${attempt} of 5`),
  );
  // The time of the failure is kept in whole seconds.
  for (const [attempt, at] of began.entries())
    expect(at - (over[attempt] ?? 0)).toBeGreaterThanOrEqual(recoveryDelay * 4 ** attempt - 1000);
  expect(began).toHaveLength(5);
  expect(await values(place)).toEqual(["old", "old", "theirs"]);
  expect(await leases(place)).toEqual([]);

  // Not even a new process begins anew.
  await running.stop();
  await place.janus();
  await givesBack(place);
  await asksAgain(place);
  await ended(place, "RolledBack");
  expect(await told(place, "RecoveryInitiated")).toHaveLength(6);
  expect(await values(place)).toEqual(["old", "old", "old"]);
});

/** The Transaction was taken up again, and then the process ended; nothing was rolled back yet. */
const cutShort = async (place: Workspace, { stop }: Running): Promise<void> => {
  await stop();
  const { hook, reached, open } = gate(({ purpose }) => purpose === "lock");
  const dying = await place.janus(hook);
  onTestFinished(open);
  await asksAgain(place);
  await reached;
  void dying.stop();
};

it("resumes an attempt that a crashed process did not finish", async () => {
  const { place, running } = await failed();
  await givesBack(place);
  await cutShort(place, running);
  await place.janus();
  await ended(place, "RolledBack");
  expect(await values(place)).toEqual(["old", "old", "old"]);
});

it("resumes an attempt whose journal was lost, and forgets nothing", async () => {
  const { place, running } = await failed();
  await cutShort(place, running);
  const [journal = ""] = await journals(place);
  await place.remove(configMap(journal));
  await place.janus();
  const { status } = await ended(place, "Failed");
  expect(status.items[2]).toMatchObject({
    rolledBack: false,
    error: expect.stringContaining(".data.value") as string,
  });
  expect(await values(place)).toEqual(["old", "old", "theirs"]);
  await givesBack(place);
  await asksAgain(place);
  await ended(place, "RolledBack");
  expect(await values(place)).toEqual(["old", "old", "old"]);
});

it("does not wait forever for a lock that another client holds", async () => {
  const { place, running } = await failed();
  await running.stop();
  await givesBack(place);
  const theirs = lockLease({ group: "", kind: "ConfigMap", namespace: place.namespace, name: "c" });
  await place.create(lease(theirs, { holderIdentity: "somebody", leaseDurationSeconds: 3600 }));
  const waiting = await place.janus();
  await asksAgain(place);
  await expect.poll(() => told(place, "LockWaiting")).toHaveLength(1);
  await waiting.stop();
  // It is as if that had gone on for hours.
  const [journal = ""] = await journals(place);
  const { position } = (await place.read(configMap(journal)))["data"] as { position: string };
  await place.patch(configMap(journal, { position: position.replace(/"since":\d+/u, '"since":0') }));
  await place.janus();
  const { status } = await ended(place, "Failed");
  expect(status.items[2]?.error).toContain("its rollback timed out");
  expect(await leases(place)).toEqual([theirs]);
  expect(await values(place)).toEqual(["old", "old", "old"]);
});

it("says that the snapshot is gone where it is, and leaves the target alone", async () => {
  const { place, running } = await failed();
  await running.stop();
  await place.remove(store);
  await place.janus();
  await asksAgain(place);
  const { status } = await answered(place);
  expect(status).toMatchObject({
    phase: "Failed",
    items: [
      { rolledBack: true },
      { rolledBack: true },
      { rolledBack: false, error: expect.stringContaining("the snapshot ConfigMap txn-rollback is gone") as string },
      {},
    ],
  });
  await expect
    .poll(() => told(place, "RollbackConfigMapMissing"))
    .toEqual([expect.stringMatching(/^Patch ConfigMap .*\/c was not rolled back: the snapshot .* is gone/) as string]);
  expect(await values(place)).toEqual(["old", "old", "theirs"]);
  expect(await leases(place)).toEqual([]);
});

it("neither trusts nor deletes a snapshot that another client has put in the place of ours", async () => {
  const { place, running } = await failed();
  await running.stop();
  const { apiVersion, kind, metadata, ...content } = await place.read(store);
  const data = JSON.parse(JSON.stringify(content["data"]).replaceAll("old", "forged")) as object;
  await place.remove(store);
  const { name = "", labels } = metadata;
  await place.create({ ...content, data, apiVersion, kind, metadata: { name, labels } });
  await givesBack(place);
  await place.janus();
  await asksAgain(place);
  const { status } = await answered(place);
  expect(status).toMatchObject({
    phase: "Failed",
    items: [{}, {}, { error: expect.stringContaining("is not the object that was written") as string }, {}],
  });
  expect(await values(place)).toEqual(["old", "old", "old"]);
  await place.remove(transaction("txn"));
  expect(await place.read(store)).toMatchObject({ data });
});

it("reports once that the journal is gone and the targets must be restored by hand, and does nothing", async () => {
  const { hook, requests } = recording();
  const { place } = await failed({}, hook);
  const [journal = ""] = await journals(place);
  await place.remove(configMap(journal));
  await givesBack(place);
  const before = requests.length;
  await asksAgain(place);
  const { status } = await answered(place);
  expect(status).toMatchObject({ phase: "Failed", recovery: { attempts: 5 } });
  expect(status.conditions.find(({ type }) => type === "Failed")?.message).toContain("the journal was deleted");
  await expect.poll(() => told(place, "RecoveryBlocked")).toHaveLength(1);
  const written = requests.slice(before).filter(({ verb }) => verb !== "get" && verb !== "create");
  expect(written.length).toBeLessThan(20);
  expect(requests.slice(before).filter(({ purpose }) => purpose === "restore")).toEqual([]);
});

it.each([
  [
    "Committed",
    [patching(configMap("a", { value: "new" }))],
    "the Transaction is Committed: no item is left to roll back",
  ],
  [
    "RolledBack",
    [patching(configMap("a", { value: "new" })), ...oneTooMany],
    "the Transaction is RolledBack: no item is left to",
  ],
  [
    "Failed",
    [patching(configMap("none", { value: "new" }))],
    "the Transaction is Failed: no item is left to roll back",
  ],
] as const)(
  "answers who asks to retry the rollback of one that is %s, and has nothing left to roll back",
  async (phase, changes, why) => {
    const place = await workspace();
    await place.create(configMap("a", { value: "old" }));
    await allowOneService(place);
    await place.janus();
    const { status } = await place.run([...changes]);
    expect(status.phase).toBe(phase);
    await asksAgain(place);
    const after = await answered(place);
    expect(after.status).toEqual(status);
    const asked = `a retry of the rollback was requested by the annotation ${RETRY_ROLLBACK}, but ${why}`;
    await expect.poll(() => told(place, "RetryRefused")).toEqual([expect.stringContaining(asked)]);
  },
);
