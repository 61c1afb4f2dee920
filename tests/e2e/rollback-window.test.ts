import { FINALIZER, REQUEST_ROLLBACK, ROLLBACK_REQUESTED_BY, SNAPSHOT_FINALIZER } from "@janus/api";
import type { Request } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching } from "../fixtures/changes.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, namespace as namespaceOf, secret } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { transaction, type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const config = configMap("config", { value: "old" });
const key = secret("key", { key: "old" });
const changes = [patching(configMap("config", { value: "new" })), creating(configMap("made")), deleting(key)];

interface Status {
  readonly reversibleUntil?: string;
}

const until = ({ status }: Txn): string | undefined => (status as Status).reversibleUntil;

const condition = ({ status }: Txn, type: string) => status.conditions.find((one) => one.type === type);

const prepared = async (settings: Parameters<typeof workspace>[0] = {}): Promise<Workspace> => {
  const place = await workspace(settings);
  await place.create(config, key);
  return place;
};

/** The Transaction when it is Committed, and nothing is left to do before its window ends. */
const rests = async (place: Workspace, name = "txn"): Promise<Txn> => {
  await expect.poll(async () => until(await place.txn(name))).toBeDefined();
  return place.txn(name);
};

const asks = async ({ patch }: Workspace, more: object = {}, name = "txn"): Promise<void> => {
  const annotations = { [REQUEST_ROLLBACK]: "yes", ...more };
  await patch({ ...transaction(name), metadata: { name, annotations } });
};

/** When a request was answered. */
const answered = async (place: Workspace, name = "txn"): Promise<Txn> => {
  const left = async () => (await place.txn(name)).metadata.annotations?.[REQUEST_ROLLBACK];
  await expect.poll(left).toBeUndefined();
  return place.txn(name);
};

/** Snapshots and journals. */
const ours = async ({ names }: Workspace): Promise<readonly string[]> =>
  [...(await names("v1", "ConfigMap")), ...(await names("v1", "Secret"))].filter((name) =>
    /rollback|journal/.test(name),
  );

const leases = ({ names }: Workspace) => names("coordination.k8s.io/v1", "Lease");

const value = async ({ read }: Workspace) => (await read(config))["data"];

const isAsBefore = async (place: Workspace): Promise<void> => {
  expect(await value(place)).toEqual({ value: "old" });
  expect(await place.exists(configMap("made"))).toBe(false);
  expect(await place.read(key)).toMatchObject({ data: { key: Buffer.from("old").toString("base64") } });
};

const isAsCommitted = async (place: Workspace): Promise<void> => {
  expect(await value(place)).toEqual({ value: "new" });
  expect(await place.exists(configMap("made"))).toBe(true);
  expect(await place.exists(key)).toBe(false);
};

const isGone = (place: Workspace, name = "txn") => expect.poll(() => place.exists(transaction(name))).toBe(false);

const told = async ({ namespace }: Workspace, reason: string, name = "txn"): Promise<readonly string[]> =>
  (await eventsOf(namespace, name)).filter((event) => event.reason === reason).map(({ message }) => message);

const isRecord =
  (text: string) =>
  (request: Request): boolean =>
    request.purpose === "record" && JSON.stringify(request).includes(text);

const isRestoreOf =
  (name: string) =>
  (request: Request): boolean =>
    request.purpose === "restore" && "name" in request && request.name === name;

/** The administrator. */
const whoAmI = async (): Promise<string> => {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: { name: "" } };
  const { status } = await administrator.create(review);
  return (status as { readonly userInfo: { readonly username: string } }).userInfo.username;
};

describe("a Committed Transaction within its rollbackWindow", () => {
  it("keeps its snapshots with their finalizer, has no locks, and says until when it can be rolled back", async () => {
    const place = await prepared();
    await place.janus();
    await place.submit(changes, { rollbackWindow: "24h" });
    const txn = await rests(place);
    const end = new Date(Date.parse(txn.status.completedAt ?? "") + 86_400_000).toISOString().replace(".000Z", "Z");
    expect(txn.status.phase).toBe("Committed");
    expect(until(txn)).toBe(end);
    expect(condition(txn, "Reversible")).toMatchObject({ status: "True", reason: "WithinWindow" });
    expect(condition(txn, "Ready")).toMatchObject({
      status: "True",
      message: `all 3 changes are applied; can be rolled back until ${end}, with the annotation ${REQUEST_ROLLBACK}`,
    });
    expect(condition(txn, "Committed")?.message).toBe("all 3 changes are applied");
    expect(txn.metadata.finalizers).toEqual([FINALIZER]);
    expect(await leases(place)).toEqual([]);
    expect(await ours(place)).toHaveLength(3);
    for (const { kind, name } of txn.status.snapshots) {
      const store = await place.read({ apiVersion: "v1", kind, metadata: { name } });
      expect(store.metadata.finalizers).toEqual([SNAPSHOT_FINALIZER]);
      expect(store.metadata).not.toHaveProperty("ownerReferences");
    }
    const { stdout } = await kubectl("get", "txn", "-n", place.namespace, "-o", "wide");
    expect(stdout).toContain("REVERSIBLEUNTIL");
    expect(stdout).toContain(end);
  });

  it("is rolled back on request, and says who asked", async () => {
    const place = await prepared();
    await place.janus();
    await place.submit(changes, { rollbackWindow: "1h" });
    await rests(place);
    const who = await whoAmI();
    await asks(place, { [ROLLBACK_REQUESTED_BY]: who });
    const txn = await place.over();
    const why = `rollback requested by ${who}, with the annotation ${REQUEST_ROLLBACK}`;
    expect(txn.status.phase).toBe("RolledBack");
    expect(condition(txn, "RolledBack")).toMatchObject({ status: "True" });
    expect(condition(txn, "Committed")).toMatchObject({ status: "False", reason: "RollbackRequested", message: why });
    expect(condition(txn, "Reversible")).toMatchObject({ status: "False", reason: "RollbackRequested" });
    expect(condition(txn, "Ready")?.message).toBe(`every target is as it was before; rolled back because: ${why}`);
    expect(until(txn)).toBeUndefined();
    // The request is served: the next one is another.
    expect(txn.metadata.annotations).not.toHaveProperty(REQUEST_ROLLBACK);
    await isAsBefore(place);
    expect(await leases(place)).toEqual([]);
    await expect.poll(() => told(place, "RollbackRequested")).toEqual([why]);
    expect(await told(place, "RollbackRefused")).toEqual([]);
    // Nothing is to be fixed.
    const end = "RollingBack → RolledBack: every target is as it was before";
    await expect.poll(() => told(place, "PhaseTransition")).toContain(end);
  });

  it("needs no request of a controller that starts meanwhile, and is rolled back by that one", async () => {
    const place = await prepared();
    const { stop } = await place.janus();
    await place.submit(changes, { rollbackWindow: "1h" });
    await rests(place);
    await stop();
    const { hook, requests } = recording();
    await place.janus(hook);
    await place.run([patching(configMap("config", { another: "1" }))], { name: "another" });
    const ofTxn = requests.filter((request) => "name" in request && request.name === "txn");
    expect(ofTxn).toEqual([]);
    await asks(place);
    expect((await place.over()).status.phase).toBe("RolledBack");
    expect(await value(place)).toEqual({ value: "old", another: "1" });
  });

  it("is rolled back without its journal, which somebody has deleted", async () => {
    const place = await prepared();
    await place.janus();
    await place.submit(changes, { rollbackWindow: "1h" });
    const { metadata } = await rests(place);
    await place.remove(configMap(`janus-journal-${metadata.uid}`));
    await asks(place);
    expect((await place.over()).status.phase).toBe("RolledBack");
    await isAsBefore(place);
  });

  it("keeps what other clients have deleted or taken over since, and names the Transaction that did", async () => {
    const place = await prepared();
    await place.janus();
    await place.submit(changes, { rollbackWindow: "1h" });
    await rests(place);
    await place.remove(configMap("made"));
    await place.run([applying(configMap("config", { value: "newer" }))], { name: "later" });
    await asks(place);
    const txn = await place.over();
    expect(txn.status.phase).toBe("Failed");
    expect(txn.status.items.map(({ rolledBack }) => rolledBack)).toEqual([false, true, true]);
    expect(txn.status.items[0]?.error).toMatch(/data\.value was modified by Transaction later \(uid .*\)/);
    expect(await value(place)).toEqual({ value: "newer" });
  });

  it("waits for a Transaction that has locked its target", async () => {
    const place = await prepared();
    const held = gate(isChangeOf("second"));
    await place.janus(held.hook);
    await place.submit(changes, { rollbackWindow: "1h" });
    await rests(place);
    await place.submit([patching(configMap("config", { more: "1" })), creating(configMap("second"))], {
      name: "other",
    });
    await held.reached;
    await asks(place);
    const message = async () => condition(await place.txn(), "Ready")?.message;
    await expect.poll(message).toContain("/other has locked it");
    expect(await value(place)).toEqual({ value: "new", more: "1" });
    held.open();
    expect((await place.over()).status.phase).toBe("RolledBack");
    expect(await value(place)).toEqual({ value: "old", more: "1" });
  });

  it("waits for no other rollback that waits for it, with the same targets in another order", async () => {
    const place = await prepared();
    await place.create(configMap("other", { value: "old" }));
    const targets = ["config", "other"];
    const restored = [gate(isRestoreOf("other")), gate(isRestoreOf("config"))] as const;
    await place.janus(...restored.map(({ hook }) => hook));
    const setting = (data: Record<string, string>) => targets.map((name) => patching(configMap(name, data)));
    await place.submit(setting({ one: "1" }), { name: "one", rollbackWindow: "1h" });
    await rests(place, "one");
    await place.submit(setting({ two: "2" }).toReversed(), { name: "two", rollbackWindow: "1h" });
    await rests(place, "two");
    await Promise.all([asks(place, {}, "one"), asks(place, {}, "two")]);
    await Promise.all(restored.map(({ reached }) => reached));
    for (const { open } of restored) open();
    expect((await place.over("one")).status.phase).toBe("RolledBack");
    expect((await place.over("two")).status.phase).toBe("RolledBack");
    for (const name of targets) expect((await place.read(configMap(name)))["data"]).toEqual({ value: "old" });
    expect(await leases(place)).toEqual([]);
  });

  it("has its finalizer again when somebody takes it off", async () => {
    const place = await prepared();
    await place.janus();
    await place.submit(changes, { rollbackWindow: "1h" });
    await rests(place);
    await place.patch({ ...transaction("txn"), metadata: { name: "txn", finalizers: [] } });
    await expect.poll(async () => (await place.txn()).metadata.finalizers).toEqual([FINALIZER]);
    await asks(place);
    expect((await place.over()).status.phase).toBe("RolledBack");
    await isAsBefore(place);
  });

  it("keeps the applied changes and none of its own objects when it is deleted", async () => {
    const place = await prepared();
    const { hook, requests } = recording();
    await place.janus(hook);
    await place.submit(changes, { rollbackWindow: "1h", deletionPolicy: "Rollback" });
    await rests(place);
    const before = requests.length;
    await place.remove(transaction("txn"));
    await isGone(place);
    await isAsCommitted(place);
    expect(await ours(place)).toEqual([]);
    expect(await leases(place)).toEqual([]);
    expect(requests.slice(before).filter(({ purpose }) => purpose === "restore")).toEqual([]);
    // Its locks were released before.
    expect(requests.slice(before).filter(({ purpose }) => purpose === "read-lock")).toEqual([]);
  });

  it("does not block the deletion of its namespace", async () => {
    const place = await prepared();
    await place.janus();
    await place.submit(changes, { rollbackWindow: "1h" });
    await rests(place);
    await administrator.remove(namespaceOf(place.namespace));
    await expect.poll(() => administrator.read(namespaceOf(place.namespace)), { interval: 500 }).toBeUndefined();
  });
});

describe("the end of the window", () => {
  it("leaves nothing of ours, and the Transaction says so", async () => {
    const place = await prepared();
    const { hook, requests } = recording();
    await place.janus(hook);
    await place.submit(changes, { rollbackWindow: "3s" });
    const end = until(await rests(place));
    const before = requests.length;
    const txn = await place.over();
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(end ?? ""));
    expect(txn.status.phase).toBe("Committed");
    expect(condition(txn, "Reversible")).toMatchObject({
      status: "False",
      reason: "WindowPassed",
      message: `it could only be rolled back until ${end}`,
    });
    expect(condition(txn, "Ready")).toMatchObject({ status: "True", message: "all 3 changes are applied" });
    expect(until(txn)).toBe(end);
    expect(txn.status.snapshots ?? []).toEqual([]);
    expect(txn.status).not.toHaveProperty("journal");
    await isAsCommitted(place);
    expect(await ours(place)).toEqual([]);
    expect(requests.slice(before).filter(({ purpose }) => purpose === "read-lock")).toEqual([]);
  });

  it("is kept by the next controller where one did not live to see it", async () => {
    const place = await prepared();
    const { stop } = await place.janus();
    await place.submit(changes, { rollbackWindow: "2s" });
    await rests(place);
    await stop();
    await place.janus();
    expect(condition(await place.over(), "Reversible")).toMatchObject({ reason: "WindowPassed" });
    expect(await ours(place)).toEqual([]);
  });

  it("a request that arrives while it is recorded is refused, with all that was deleted by then", async () => {
    const place = await prepared();
    const ending = gate(isRecord("WindowPassed"));
    const deletion = gate(({ purpose }) => purpose === "release-store");
    await place.janus(ending.hook, deletion.hook);
    await place.submit(changes, { rollbackWindow: "2s" });
    await ending.reached;
    ending.open();
    await deletion.reached;
    await asks(place);
    deletion.open();
    await place.over();
    const txn = await answered(place);
    expect(txn.status.phase).toBe("Committed");
    expect(condition(txn, "Ready")?.message).toContain(`, but it could only be rolled back until `);
    await isAsCommitted(place);
    expect(await ours(place)).toEqual([]);
  });

  it("a request that arrives before it is recorded, but after it, is refused", async () => {
    const place = await prepared();
    const ending = gate(isRecord("WindowPassed"));
    await place.janus(ending.hook);
    await place.submit(changes, { rollbackWindow: "2s" });
    await ending.reached;
    await asks(place);
    ending.open();
    await place.over();
    const txn = await answered(place);
    expect(txn.status.phase).toBe("Committed");
    expect(condition(txn, "Ready")?.message).toContain(", but it could only be rolled back until ");
    await isAsCommitted(place);
  });

  it("is what ttlSecondsAfterFinished waits for", async () => {
    const place = await prepared();
    await place.janus();
    await place.submit(changes, { rollbackWindow: "3s", ttlSecondsAfterFinished: 0 });
    const end = Date.parse(until(await rests(place)) ?? "");
    await isGone(place);
    expect(Date.now()).toBeGreaterThanOrEqual(end);
    await isAsCommitted(place);
    expect(await ours(place)).toEqual([]);
  });
});

describe("a rollback that cannot be", () => {
  const answer = `rollback requested by the annotation ${REQUEST_ROLLBACK}, but `;

  it.each([
    {
      what: "a Committed one without a window",
      of: changes,
      options: {},
      says: "it has no spec.rollbackWindow: its snapshots were deleted when it was Committed",
    },
    { what: "one whose window is 0s", of: changes, options: { rollbackWindow: "0s" }, says: "it has no spec.rollback" },
    {
      what: "one whose window has passed",
      of: changes,
      options: { rollbackWindow: "1s" },
      says: "it could only be rolled",
    },
    {
      what: "a RolledBack one",
      of: [...changes, creating(configMap("late"))],
      options: {},
      says: "it is RolledBack already",
    },
    {
      what: "one that has Failed before its first change",
      of: changes,
      options: { serviceAccountName: "nobody" },
      says: "it is Failed, and no changes are applied",
    },
  ])("of $what is answered, each time, and changes nothing", async ({ of, options, says }) => {
    const place = await prepared();
    await place.janus(async (request, next) => {
      if (isChangeOf("late")(request)) await place.create(configMap("late"));
      return next(request);
    });
    const before = await place.run(of, options);
    for (const times of [1, 2]) {
      await asks(place);
      const { status } = await answered(place);
      const { conditions, version: _, ...rest } = status;
      const { conditions: former, version: __, ...same } = before.status;
      expect(rest).toEqual(same);
      const notReady = (all: typeof conditions) => all.filter(({ type }) => type !== "Ready");
      expect(notReady(conditions)).toEqual(notReady(former));
      const [was, is] = [former, conditions].map((all) => all.find(({ type }) => type === "Ready"));
      expect(is).toMatchObject({ status: was?.status, reason: was?.reason });
      expect(is?.message.startsWith(`${was?.message}; ${answer}${says}`)).toBe(true);
      expect(is?.message.split(answer)).toHaveLength(2);
      // The recorder counts what is told again.
      const count = async () => {
        const refused = (await eventsOf(place.namespace, "txn")).filter(({ reason }) => reason === "RollbackRefused");
        return refused.reduce((sum, event) => sum + event.count, 0);
      };
      await expect.poll(count).toBe(times);
    }
  });

  it("of one that deletes what cannot come back is answered already, and its snapshots are not kept", async () => {
    const place = await prepared();
    const held = gate(isChangeOf("claim"));
    await place.janus(held.hook);
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "claim" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    await place.create(claim);
    await place.submit([...changes, deleting(claim)], { rollbackWindow: "1h" });
    await held.reached;
    await place.patch({ ...claim, metadata: { name: "claim", finalizers: [] } });
    held.open();
    const txn = await place.over();
    expect(condition(txn, "Reversible")).toMatchObject({
      status: "False",
      reason: "Irreversible",
      message: "the deletion of PersistentVolumeClaim claim cannot be undone",
    });
    expect(await ours(place)).toEqual([]);
    await asks(place);
    expect(condition(await answered(place), "Ready")?.message).toContain(`${answer}the deletion of Persistent`);
  });

  it("does not answer a request because of which it was rolled back", async () => {
    const place = await prepared();
    const held = gate(isChangeOf("made"));
    await place.janus(held.hook);
    await place.submit(changes);
    await held.reached;
    await asks(place);
    held.open();
    const txn = await place.over();
    expect(txn.status.phase).toBe("RolledBack");
    expect(txn.metadata).not.toHaveProperty("annotations");
    expect(condition(txn, "Ready")?.message).not.toContain(", but ");
    await asks(place);
    expect(condition(await answered(place), "Ready")?.message).toContain(`${answer}it is RolledBack already`);
  });
});

describe("rollbackWindow", () => {
  it.each(["0", "0s", "500ms", "24h", "1h30m"])("may be %s", async (rollbackWindow) => {
    const { spec } = await (await workspace()).submit(changes, { rollbackWindow });
    expect(spec).toMatchObject({ rollbackWindow });
  });

  it.each(["", "-1s", "1", "1d"])("may not be %j", async (rollbackWindow) => {
    await expect((await workspace()).submit(changes, { rollbackWindow })).rejects.toThrow(
      "must be a duration in units of h, m, s or ms",
    );
  });
});

describe("--default-ttl-seconds-after-finished", () => {
  it("deletes those that have no ttlSecondsAfterFinished, and those alone", async () => {
    const place = await prepared({ defaultTtl: 1 });
    await place.janus();
    await place.run(changes, { ttlSecondsAfterFinished: 3600, name: "kept" });
    await place.submit([patching(configMap("config", { value: "newer" }))]);
    await isGone(place);
    expect(await place.exists(transaction("kept"))).toBe(true);
  });
});
