import type { Hook, Request } from "@janus/kube";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, lease } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { page } from "../fixtures/page.ts";
import { workspace } from "../fixtures/workspace.ts";
import { lockOf } from "../trouble/contended.ts";

/** Its definition, in which v1 is served or not; v2 is. */
const versions = (namespace: string, served: boolean): Manifest => {
  const crd = gadgets(namespace) as Manifest & { readonly spec: { readonly versions: readonly [object] } };
  const [v1] = crd.spec.versions;
  return {
    ...crd,
    spec: {
      ...crd.spec,
      versions: [
        { ...v1, served },
        { ...v1, name: "v2", storage: false },
      ],
    },
  };
};

const before = (is: (request: Request) => boolean, meddle: () => Promise<unknown>): Hook => {
  let done = false;
  return async (request, next) => {
    if (!done && is(request)) {
      done = true;
      await meddle();
    }
    return next(request);
  };
};

it("does not say that a created object is gone when its version is served no more: it is there in another one", async () => {
  const place = await workspace();
  const { namespace } = place;
  await clusterAdmin(namespace);
  await administrator.create(versions(namespace, true));
  const one = gadget(namespace);
  const inV2 = { ...one, apiVersion: one.apiVersion.replace("v1", "v2") };
  const isThere = () => place.exists(one).catch(() => "not served");
  await expect.poll(isThere).toBe(false);
  await place.create(configMap("first", { a: "1" }));
  await allowOneService(place);
  const stop = async () => {
    await administrator.apply(versions(namespace, false));
    await expect.poll(isThere).not.toBe(true);
  };
  await place.janus(before((request) => request.purpose === "change" && isChangeOf("one-too-many")(request), stop));
  await place.submit([patching(configMap("first", { a: "2" })), creating(one), ...oneTooMany]);
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("Failed");
  const { status } = await place.txn();
  expect(status.items[1]).toMatchObject({
    rolledBack: false,
    error: expect.stringMatching(/^the API server does not serve Gadget in .*\/v1/) as string,
  });
  expect(status.items[0]).toMatchObject({ rolledBack: true });
  expect(await place.read(configMap("first"))).toMatchObject({ data: { a: "1" } });
  expect(await place.exists(inV2)).toBe(true);
});

it.each([
  [
    "its rollback",
    (request: Request) => request.purpose === "read-target" && request.verb === "get" && request.name === "made",
  ],
  ["its doubt", isChangeOf("gone")],
])("waits if a proxy of the API server answers 404, and reports it: %s", async (_, is) => {
  const place = await workspace();
  await place.create(configMap("gone", { a: "1" }));
  await allowOneService(place);
  const { hook, met } = page((request) => is(request) && !("dryRun" in request && request.dryRun), 4_000);
  await place.janus(hook);
  await place.submit([creating(configMap("made")), deleting(configMap("gone")), ...oneTooMany]);
  const { status } = await place.over();
  expect(met()).toBeGreaterThan(1);
  expect(status.phase).toBe("RolledBack");
  expect(await place.exists(configMap("made"))).toBe(false);
  expect(await place.read(configMap("gone"))).toMatchObject({ data: { a: "1" } });
});

it("does not take over the lock of a Transaction of which something in front of the API server says 404", async () => {
  const place = await workspace();
  await place.create(configMap("a"));
  const other = await place.submit([patching(configMap("a", { by: "other" }))], { name: "other" });
  const holderIdentity = `${place.namespace}/other/${other.metadata.uid}`;
  await place.create(lease(lockOf(place, "a"), { holderIdentity, leaseDurationSeconds: 3600 }));
  const { hook, met } = page((request) => request.purpose === "read-holder", 5_000);
  // The other one is at work, elsewhere.
  const elsewhere = gate(
    (request) => request.purpose === "read-transaction" && "name" in request && request.name === "other",
  );
  await place.janus(hook, elsewhere.hook);
  onTestFinished(elsewhere.open);
  await place.submit([patching(configMap("a", { by: "us" }))]);
  await expect.poll(met).toBeGreaterThan(3);
  expect(await place.read(lease(lockOf(place, "a")))).toMatchObject({ spec: { holderIdentity } });
  expect((await place.txn()).status.phase).toBe("Preparing");
});
