// Locks that expire, are taken away or meet trouble: nobody writes without one.
import { setTimeout } from "node:timers/promises";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { crashingProcess } from "../crash/crashing-process.ts";
import { administrator } from "../fixtures/administrator.ts";
import { patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gadgets } from "../fixtures/gadgets.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, lease, role, roleBinding, service } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { refusing } from "../fixtures/refusing.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";
import { both, leases, lockOf, somebody } from "./contended.ts";

const holding = ({ namespace }: Workspace, name: string, uid: string | undefined): string =>
  `${namespace}/${name}/${uid}`;

const ready = async (place: Workspace, name = "txn") =>
  (await place.txn(name)).status?.conditions.find(({ type }) => type === "Ready");

describe("a lock", () => {
  it("that is waited for is told of where people look, with who holds it, and forgotten with the wait", async () => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"));
    await somebody(place);
    await place.janus();
    await place.submit(both);
    await expect
      .poll(() => ready(place))
      .toMatchObject({
        status: "False",
        reason: "Waiting",
        message: expect.stringContaining(
          `Lease ${place.namespace}/${lockOf(place, "a")} is held by somebody`,
        ) as string,
      });
    await place.remove(lease(lockOf(place, "a")));
    const { status } = await place.over();
    expect(status.phase).toBe("Committed");
    expect(status.conditions.filter(({ message }) => message.includes("waiting"))).toEqual([]);
  });

  it("is kept while renewals meet trouble for less than its duration, without a storm of them", async () => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"));
    const { hook: hold, reached, open } = gate(isChangeOf("b"));
    const renewals = refusing(({ purpose }) => purpose === "renew-lock", 6000);
    const { hook: keep, requests } = recording();
    await place.janus(keep, renewals.hook, hold);
    await place.submit(both, { lockTimeout: "12s" });
    await reached;
    const renewed = async () => (await place.read(lease(lockOf(place, "a"))))["spec"];
    const before = await renewed();
    await expect.poll(() => renewals.refused()).toBeGreaterThan(0);
    // Nobody has it renewed meanwhile, and it is not given up.
    await expect.poll(renewed).not.toEqual(before);
    const asked = requests.filter(({ purpose }) => purpose === "renew-lock" || purpose === "read-lock");
    // Every 1.2 s and a look after each, of two locks, for six seconds, and the end of it.
    expect(asked.length).toBeLessThanOrEqual(2 * (2 * 6 + 2));
    open();
    const { status } = await place.over();
    expect(status.phase).toBe("Committed");
    expect((await eventsOf(place.namespace, "txn")).map(({ reason }) => reason)).not.toContain("LockRenewalFailed");
  });

  it("that somebody has taken meanwhile stops the next write, however good it seemed", async () => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"), configMap("c"));
    const { hook: keep, requests } = recording();
    const taken = Promise.withResolvers<void>();
    await place.janus(keep, async (request, next) => {
      if (isChangeOf("b")(request)) {
        await place.patch(lease(lockOf(place, "a"), { holderIdentity: "somebody", leaseDurationSeconds: 1 }));
        await taken.promise;
      }
      if (request.purpose === "read-lock") await setTimeout(2000);
      const answer = await next(request);
      // As soon as the renewal has failed, long before anybody knows why.
      if (request.purpose === "renew-lock" && E.isLeft(answer)) taken.resolve();
      return answer;
    });
    await place.submit([...both, patching(configMap("c", { v: "1" }))], { lockTimeout: "7s" });
    expect((await place.over()).status.phase).toBe("RolledBack");
    expect(requests.filter(isChangeOf("c"))).toEqual([]);
  });

  it.each([
    ["taken over", false],
    ["deleted, and taken", true],
  ])("that somebody has %s meanwhile is not given back: it is theirs", async (_, anew) => {
    const place = await workspace();
    await place.create(configMap("a"));
    const theirs = lease(lockOf(place, "a"), { holderIdentity: "somebody", leaseDurationSeconds: 3600 });
    let done = false;
    await place.janus(async (request, next) => {
      if (request.purpose === "release-lock" && !done) {
        done = true;
        if (anew) {
          await place.remove(theirs);
          await place.create(theirs);
        } else await place.patch(theirs);
      }
      return next(request);
    });
    const { status } = await place.run([patching(configMap("a", { v: "1" }))]);
    expect(status.phase).toBe("Committed");
    expect(done).toBe(true);
    expect(await place.read(theirs)).toMatchObject({ spec: { holderIdentity: "somebody" } });
  });
});

describe("a new leader", () => {
  it("lets who is at work finish under its locks, however long they have expired, before anybody else has them", async () => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"));
    const { hook: dying, discard } = crashingProcess();
    const { hook: hold, reached, open } = gate(isChangeOf("b"));
    const former = await place.janus(hold, dying);
    await place.submit(both, { name: "at-work" });
    await reached;
    discard();
    open();
    await former.stop();
    for (const name of ["a", "b"])
      await place.patch(
        lease(lockOf(place, name), { leaseDurationSeconds: 1, renewTime: "2020-01-01T00:00:00.000000Z" }),
      );
    // It comes first in every list.
    await place.submit(both.toReversed(), { name: "a-new-one" });
    const { hook: keep, requests } = recording();
    await place.janus(keep);
    expect((await place.over("at-work")).status.phase).toBe("Committed");
    expect((await place.over("a-new-one")).status.phase).toBe("Committed");
    const makers = requests.flatMap((request) =>
      request.purpose === "change" && "fieldManager" in request ? [request.fieldManager?.slice(0, 13)] : [],
    );
    expect(makers).toEqual(["janus-at-work", "janus-a-new-o", "janus-a-new-o"]);
  });
});

describe("told apart:", () => {
  it("Service/x of the core group and Service/x of another one", async () => {
    const place = await workspace();
    const group = `${place.namespace}.example.com`;
    const names = { plural: "services", singular: "service", kind: "Service", listKind: "ServiceList" };
    const crd = gadgets(place.namespace);
    const definition = { ...crd, metadata: { name: `services.${group}` }, spec: { ...(crd["spec"] as object), names } };
    await administrator.create(definition);
    onTestFinished(() => administrator.remove(definition));
    const other = { apiVersion: `${group}/v1`, kind: "Service", metadata: { name: "x" }, size: 3 };
    await expect
      .poll(() =>
        place.create(other).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await place.create(service("x"), role("services", { apiGroups: [group], resources: ["*"], verbs: ["*"] }));
    await place.create(roleBinding("services", "Role", "services", `${place.namespace}/deployer`));
    const { hook, reached, open } = gate(
      (request) =>
        isChangeOf("x")(request) && request.verb === "apply" && request.fieldManager.startsWith("janus-core"),
    );
    await place.janus(hook);
    await place.submit([patching({ ...service("x"), metadata: { name: "x", labels: { a: "b" } } })], { name: "core" });
    await reached;
    // Beside it, while the other one is locked.
    expect((await place.run([patching({ ...other, size: 4 })], { name: "other" })).status.phase).toBe("Committed");
    open();
    expect((await place.over("core")).status.phase).toBe("Committed");
    // Both in one Transaction do not stand in each other's way.
    const both = [
      patching({ ...service("x"), metadata: { name: "x", labels: { a: "c" } } }),
      patching({ ...other, size: 5 }),
    ];
    expect((await place.run(both, { name: "both" })).status.phase).toBe("Committed");
  });

  it("Transactions of the same name in two namespaces", async () => {
    const [here, there] = [await workspace(), await workspace()];
    await here.create(configMap("a", { by: "nobody" }));
    await here.create(roleBinding("there", "ClusterRole", "admin", `${there.namespace}/deployer`));
    const { hook, reached, open } = gate(isChangeOf("a"));
    await here.janus(hook);
    await there.janus();
    await here.submit([patching(configMap("a", { by: "here" }))]);
    await reached;
    const target = { ...configMap("a", { by: "there" }), metadata: { name: "a", namespace: here.namespace } };
    await there.submit([patching(target)]);
    await expect
      .poll(async () => (await ready(there))?.message)
      .toContain(`Transaction ${here.namespace}/txn has locked it`);
    open();
    expect((await here.over()).status.phase).toBe("Committed");
    expect((await there.over()).status.phase).toBe("Committed");
    expect((await here.read(configMap("a")))["data"]).toEqual({ by: "there" });
    expect(await leases(here)).toEqual([]);
  });
});

describe("a Lease that somebody has written by hand", () => {
  it.each([
    ["nothing in it", undefined],
    ["nobody as its holder", { holderIdentity: "", leaseDurationSeconds: 3600 }],
    ["a duration only", { leaseDurationSeconds: 3600 }],
  ])("with %s holds nobody up, is ours with our labels then, and given back", async (_, spec) => {
    const place = await workspace();
    await place.create(configMap("a"), lease(lockOf(place, "a"), spec));
    const { hook, reached, open } = gate(isChangeOf("a"));
    await place.janus(hook);
    const { metadata } = await place.submit([patching(configMap("a", { v: "1" }))]);
    await reached;
    expect(await place.read(lease(lockOf(place, "a")))).toMatchObject({
      metadata: { labels: { "app.kubernetes.io/managed-by": "janus", "janus.io/transaction": "txn" } },
      spec: { holderIdentity: holding(place, "txn", metadata.uid) },
    });
    open();
    expect((await place.over()).status.phase).toBe("Committed");
    expect(await leases(place)).toEqual([]);
  });

  it.each([
    ["a name of their own", "somebody"],
    ["one with a slash", "a/b"],
    ["what looks like a Transaction and has no uid", "shop/txn/1"],
  ])(
    "with a holder (%s) and no duration is respected for as long as our own lock is good",
    async (_, holderIdentity) => {
      const place = await workspace();
      await place.create(configMap("a"), lease(lockOf(place, "a"), { holderIdentity }));
      await place.janus();
      await place.submit([patching(configMap("a", { v: "1" }))], { lockTimeout: "7s" });
      await expect.poll(() => ready(place)).toMatchObject({ reason: "Waiting" });
      const since = performance.now();
      expect((await place.over()).status.phase).toBe("Committed");
      expect(performance.now() - since).toBeGreaterThan(4000);
    },
  );
});
