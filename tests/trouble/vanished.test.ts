// A Transaction that vanishes at any moment leaves nothing behind that nobody can find.
import { setTimeout } from "node:timers/promises";
import type { Hook, Request } from "@janus/kube";
import { expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { configMap, secret } from "../fixtures/manifests.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

/**
 * The Transaction goes right before the first request of this kind, though our finalizer is on it: as when a deletion was decided
 * before that was put on and is carried out now.
 */
const vanishesBefore = (place: Workspace, is: (request: Request) => boolean): Hook => {
  let done = false;
  return async (request, next) => {
    if (!done && is(request)) {
      done = true;
      await place.remove(transaction("txn"));
      await place.patch({ ...transaction("txn"), metadata: { name: "txn", finalizers: null } });
      await setTimeout(500); // till the watch has told of it
    }
    return next(request);
  };
};

const changes = [
  patching(configMap("a", { v: "new" })),
  patching({ ...secret("s"), stringData: { v: "new" } }),
  creating(configMap("made")),
];

const left = async ({ names }: Workspace) => ({
  leases: await names("coordination.k8s.io/v1", "Lease"),
  configMaps: (await names("v1", "ConfigMap")).filter((name) => name !== "kube-root-ca.crt"),
  secrets: await names("v1", "Secret"),
});

const of =
  (purpose: string, phase?: string) =>
  (request: Request): boolean =>
    request.purpose === purpose && (phase === undefined || JSON.stringify(request).includes(`"phase":"${phase}"`));

it.each([
  ["being prepared", of("lock")],
  ["being prepared, with snapshots", of("journal")],
  ["prepared", of("record", "Committing")],
])("of a Transaction that vanishes while it is %s nothing stays behind", async (_, is) => {
  const place = await workspace();
  await place.create(configMap("a", { v: "old" }), secret("s", { v: "old" }));
  await place.janus(vanishesBefore(place, is));
  await place.submit(changes);
  await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
  await expect.poll(() => left(place)).toEqual({ leases: [], configMaps: ["a"], secrets: ["s"] });
  expect(await place.read(configMap("a"))).toMatchObject({ data: { v: "old" } });
});

it("of a Transaction that vanishes while it applies its changes, these stay, and its snapshots can be found", async () => {
  const place = await workspace();
  await place.create(configMap("a", { v: "old" }), secret("s", { v: "old" }));
  let sent = 0;
  const isSecondChange = (request: Request): boolean => {
    if (of("change")(request)) sent += 1;
    return sent === 2;
  };
  await place.janus(vanishesBefore(place, isSecondChange));
  const { metadata } = await place.submit(changes);
  await expect.poll(() => place.exists(transaction("txn"))).toBe(false);
  await expect
    .poll(() => left(place))
    .toMatchObject({
      leases: [],
      configMaps: expect.not.arrayContaining([`janus-journal-${metadata.uid}`]) as unknown,
    });
  const orphaned = { metadata: { labels: { "janus.io/orphaned": "true", "janus.io/transaction": "txn" } } };
  for (const store of [configMap("txn-rollback"), secret("txn-rollback-1")]) {
    const kept = await place.read(store);
    expect(kept).toMatchObject(orphaned);
    expect(kept.metadata.finalizers ?? []).toEqual([]);
  }
  expect(await place.read(configMap("a"))).toMatchObject({ data: { v: "new" } });
  expect(await eventsOf(place.namespace, "txn")).toContainEqual(
    expect.objectContaining({ reason: "RecoveryInitiated", type: "Warning" }),
  );
});

it("a Transaction of the same name that is created at once is another one", async () => {
  const place = await workspace();
  await place.create(configMap("a", { v: "old" }), secret("s", { v: "old" }));
  const goes = vanishesBefore(place, of("record", "Committing"));
  let isSecond = false;
  const created = Promise.withResolvers<void>();
  await place.janus(goes, async (request, next) => {
    if (!isSecond && of("record", "Committing")(request)) {
      isSecond = true;
      await place.submit(changes);
      created.resolve();
    }
    return next(request);
  });
  await place.submit(changes);
  await created.promise;
  expect((await place.over()).status.phase).toBe("Committed");
  await expect.poll(() => left(place)).toEqual({ leases: [], configMaps: ["a", "made"], secrets: ["s"] });
});

it.each([
  ["locks", of("lock")],
  ["journal", of("journal")],
  ["changes", of("change")],
  ["checkpoints", of("checkpoint")],
  ["last status", of("record", "Committed")],
])("a finalizer that another client removes before its %s is added again, and nothing stays behind", async (_, is) => {
  const place = await workspace();
  await place.create(configMap("a", { v: "old" }), secret("s", { v: "old" }));
  let done = false;
  await place.janus(async (request, next) => {
    if (!done && is(request) && !("dryRun" in request && request.dryRun)) {
      done = true;
      await place.patch({ ...transaction("txn"), metadata: { name: "txn", finalizers: null } });
    }
    return next(request);
  });
  await place.submit(changes);
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Committed");
  await expect.poll(() => left(place)).toEqual({ leases: [], configMaps: ["a", "made"], secrets: ["s"] });
  expect((await place.over()).metadata.finalizers ?? []).toEqual([]);
});
