import type { Request } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { creating, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { transaction, type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

/** Nulls take out, in a merge patch. */
const EMPTY = {
  version: null,
  observedGeneration: null,
  startedAt: null,
  progress: null,
  rollbackRef: null,
  journal: null,
  snapshots: null,
  conditions: null,
};

type Status = Txn["status"];
type Garbage = (status: Status) => object;

const first = (status: Status, fields: object): object => ({
  items: status.items.map((item, index) => (index === 0 ? { ...item, ...fields } : item)),
});

/** What the CRD lets through and no controller ever wrote. */
const garbage: Readonly<Record<string, readonly [Garbage, string]>> = {
  "an impossible item": [
    (status) => first(status, { prepared: true, committed: false, rolledBack: true }),
    "status.items[0]: no item is prepared=true, committed=false, rolledBack=true",
  ],
  "no items": [() => ({ items: [] }), "status.items: has 0 entries for"],
  "half a lock": [(status) => first(status, { leaseNamespace: null }), "lockLease and leaseNamespace go together"],
  "an item without its snapshot": [
    (status) => first(status, { uid: null, resourceVersion: null, snapshot: null }),
    "status.items[0]: its snapshot is missing",
  ],
  "a version that no number can hold": [() => ({ version: 2 ** 53 }), "status.version: must be an integer"],
};

/** The first request of this phase, in which the Transaction is then held up. */
const isIn: Readonly<Record<string, (request: Request) => boolean>> = {
  Preparing: ({ purpose }) => purpose === "dry-run",
  Committing: ({ purpose }) => purpose === "change",
  RollingBack: ({ purpose }) => purpose === "restore",
};

const write = ({ patch }: Workspace, status: object) => patch({ ...transaction("txn"), status }, "status");

/** A Transaction of three changes, held up in this phase; it ends as Committed, or as RolledBack. */
const heldUp = async (phase: string) => {
  const place = await workspace();
  await place.create(configMap("config", { a: "1" }));
  await allowOneService(place);
  const isHeld = isIn[phase];
  if (isHeld === undefined) throw new Error(`no request is known of ${phase}`);
  const { hook, reached, open } = gate(isHeld);
  const running = await place.janus(hook);
  const more = phase === "RollingBack" ? oneTooMany : [creating(configMap("made"))];
  await place.submit([patching(configMap("config", { a: "2" })), ...more]);
  await reached;
  const { status } = await place.txn();
  expect(status.phase).toBe(phase);
  return { ...place, place, running, status, open };
};

const stalled = ({ txn }: Workspace) =>
  txn().then(({ status }) => status.conditions.find(({ type }) => type === "Stalled"));

describe("a Transaction whose status somebody has damaged", () => {
  it.each([
    ["Preparing", "no items"],
    ["Preparing", "an impossible item"],
    ["Committing", "an item without its snapshot"],
    ["Committing", "a version that no number can hold"],
    ["Committing", "no items"],
    ["Committing", "half a lock"],
    ["RollingBack", "an impossible item"],
    ["RollingBack", "an item without its snapshot"],
  ])("says so in phase %s where it has %s, holds up nobody, and goes on when it is put right", async (phase, kind) => {
    const { place, running, status, open } = await heldUp(phase);
    const [damage, why] = garbage[kind] ?? [];
    if (damage === undefined) throw new Error(`there is no ${kind}`);
    await write(place, damage(status));
    open();

    await expect.poll(() => stalled(place)).toMatchObject({ status: "True", reason: "Unreadable" });
    expect((await stalled(place))?.message).toContain(why);
    const { run, txn, namespace } = place;
    expect((await run([creating(configMap("other"))], { name: "other" })).status.phase).toBe("Committed");
    const left = await txn();
    expect(left.status.phase).toBe(phase);
    const told = async () => (await eventsOf(namespace, "txn")).map(({ reason, message }) => `${reason}: ${message}`);
    await expect.poll(told).toContainEqual(expect.stringContaining(`RecoveryBlocked: the Transaction cannot be read`));
    // It is not looked at again and again.
    const before = running.log.length;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(running.log.length - before).toBeLessThan(10);
    expect((await txn()).metadata.resourceVersion).toBe(left.metadata.resourceVersion);

    await write(place, { ...status, conditions: left.status.conditions });
    const { status: end } = await place.over();
    expect(end.phase).toBe(phase === "RollingBack" ? "RolledBack" : "Committed");
    expect(end.conditions.filter(({ reason }) => reason === "Unreadable")).toEqual([]);
    expect(await place.read(configMap("config"))).toMatchObject({ data: { a: phase === "RollingBack" ? "1" : "2" } });
    expect(await place.names("coordination.k8s.io/v1", "Lease")).toEqual([]);
  });

  it.each(Object.keys(isIn))(
    "does not hang when it is deleted in phase %s, and the former state is kept",
    async (phase) => {
      const { place, open } = await heldUp(phase);
      await write(place, { items: [], snapshots: [], journal: null });
      open();
      await expect.poll(() => stalled(place)).toMatchObject({ reason: "Unreadable" });
      await place.remove(transaction("txn"));
      await expect.poll(() => place.exists(transaction("txn"))).toBe(false);

      const stores = (await administrator.list({ apiVersion: "v1", kind: "ConfigMap" }, place.namespace)).filter(
        ({ metadata }) => metadata.name === "txn-rollback",
      );
      const kept = stores.map(({ metadata: { finalizers, labels }, data }) => [
        finalizers,
        labels?.["janus.io/orphaned"],
        JSON.stringify(data).includes(String.raw`\"a\":\"1\"`),
      ]);
      expect(kept).toEqual([[undefined, "true", true]]);
      // The locks of one that is gone are in nobody's way.
      const { status } = await place.run([patching(configMap("config", { a: "3" }))], { name: "next" });
      expect(status.phase).toBe("Committed");
    },
  );
});

it.each([
  ["is wiped out", { ...EMPTY, phase: null, items: null }],
  ["says Pending again", { phase: "Pending" }],
])("does not begin anew when its status %s after changes were made", async (_, damage) => {
  const { place, status, open } = await heldUp("RollingBack");
  await write(place, damage);
  open();
  await expect.poll(() => stalled(place)).toMatchObject({ status: "True", reason: "Unreadable" });
  const message = "status.phase: is Pending, but there is a journal: changes may have been made";
  expect((await stalled(place))?.message).toContain(message);
  const store = await place.read(configMap("txn-rollback"));
  expect(store.metadata.deletionTimestamp).toBeUndefined();
  await write(place, status);
  expect((await place.over()).status.phase).toBe("RolledBack");
  expect(await place.read(configMap("config"))).toMatchObject({ data: { a: "1" } });
});

it("goes on after a former process has only put the finalizer on", async () => {
  const place = await workspace();
  const { hook, reached, open } = gate(({ purpose }) => purpose === "record");
  await place.janus(hook);
  await place.submit([creating(configMap("made"))]);
  await reached;
  expect((await place.txn()).metadata.finalizers).toEqual(["backup.janus.io/lease-cleanup"]);
  await place.janus();
  expect((await place.over()).status.phase).toBe("Committed");
  open();
});

it("says of a spec that it cannot be read, and can be deleted", async () => {
  const place = await workspace();
  await place.janus();
  await place.submit([creating(configMap("made"))], { ttlSecondsAfterFinished: 2 ** 53 });
  await expect.poll(() => stalled(place)).toMatchObject({ status: "True", reason: "Unreadable" });
  expect((await stalled(place))?.message).toContain("spec.ttlSecondsAfterFinished: must be an integer");
  expect((await place.run([creating(configMap("other"))], { name: "other" })).status.phase).toBe("Committed");
  expect(await place.exists(configMap("made"))).toBe(false);
  await place.remove(transaction("txn"));
  await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
});

it("reports an internal error of Janus, retries, and processes the others", async () => {
  const place = await workspace();
  let broken = true;
  const { log } = await place.janus((request, next) => {
    if (broken && isChangeOf("unlucky")(request)) throw new TypeError("nothing is where something should be");
    return next(request);
  });
  await place.submit([creating(configMap("unlucky"))]);
  const told = async () =>
    (await eventsOf(place.namespace, "txn")).map(({ reason, message }) => `${reason}: ${message}`);
  await expect.poll(told).toContainEqual(expect.stringMatching(/^RecoveryBlocked: internal error in Janus/));
  expect((await place.run([creating(configMap("lucky"))], { name: "other" })).status.phase).toBe("Committed");
  expect(log.join("\n")).toMatch(
    /"message":"internal error in Janus.*"reconcile":"\w+".*nothing is where something should be/,
  );
  broken = false;
  expect((await place.over()).status.phase).toBe("Committed");
});
