import { RETRY_ROLLBACK } from "@janus/api";
import type { Hook, KubeObject } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { refusing, unavailable } from "../fixtures/refusing.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";
import { lasting } from "./target.ts";

const reference = ({ kind, apiVersion, metadata: { name, uid } }: KubeObject) => ({ apiVersion, kind, name, uid });

/** `c`, owned by `a` and `b`. */
const family = async ({ create }: Workspace): Promise<void> => {
  const owners = await create(configMap("a", { x: "1" }), configMap("b", { x: "1" }));
  const metadata = { name: "c", ownerReferences: owners.map(reference) };
  await create({ ...configMap("c", { x: "1" }), metadata });
};

const last = configMap("last");

/** Somebody makes what the last change is to create. */
const fails =
  (place: Workspace): Hook =>
  async (request, next) => {
    if (isChangeOf("last")(request) && !(await place.exists(last))) await place.create(last);
    return next(request);
  };

/** A change of `c` is not sent before the garbage collector has taken a reference out. */
const afterCollector =
  ({ read }: Workspace): Hook =>
  async (request, next) => {
    if (isChangeOf("c")(request))
      await expect.poll(async () => (await read(configMap("c"))).metadata.ownerReferences).toHaveLength(1);
    return next(request);
  };

/** The last change is not sent before the garbage collector has taken `c`. */
const afterCollection =
  ({ exists }: Workspace): Hook =>
  async (request, next) => {
    if (isChangeOf("last")(request)) await expect.poll(() => exists(configMap("c"))).toBe(false);
    return next(request);
  };

/** Everything of `c` but its uid and what comes with it, with the names of its owners for their uids. */
const comparable = async (place: Workspace) => {
  const owners = await Promise.all([configMap("a"), configMap("b")].map(place.read));
  const named = owners.reduce(
    (text, { metadata: { uid = "", name = "" } }) => text.replaceAll(uid, `uid of ${name}`),
    JSON.stringify(await place.read(configMap("c"))),
  );
  return lasting(JSON.parse(named) as KubeObject);
};

const [a, b, c] = [configMap("a"), configMap("b"), configMap("c", { x: "2" })];
const failing = creating(last);

describe("what has two owners, one of which is deleted, is owned by both again", () => {
  it.each<readonly [string, readonly WrittenChange[]]>([
    ["with a Patch of it", [deleting(b), patching(c), failing]],
    ["with an Update of it", [deleting(b), updating(c), failing]],
    ["with a Delete of it", [deleting(b), deleting(c), failing]],
    ["with a Delete of the other owner too", [deleting(b), deleting(c), deleting(a), failing]],
    ["with a Patch of it before", [patching(c), deleting(b), failing]],
    ["with an Update of it before", [updating(c), deleting(b), failing]],
    ["with a Delete of it before", [deleting(c), deleting(b), failing]],
    ["when its Patch is never made", [deleting(b), failing, patching(c)]],
    ["when its Delete is never made", [deleting(b), failing, deleting(c)]],
    ["when the Delete of its other owner is never made", [deleting(c), deleting(b), failing, deleting(a)]],
  ])("%s", async (_, changes) => {
    const place = await workspace();
    await family(place);
    const before = await comparable(place);
    await place.janus(fails(place));
    const { status } = await place.run(changes);
    expect(status.phase).toBe("RolledBack");
    expect(status.items.filter(({ committed, error }) => committed && error !== undefined)).toEqual([]);
    expect(await comparable(place)).toEqual(before);
  });

  it.each<readonly [string, WrittenChange]>([
    ["Patch", patching(c)],
    ["Update", updating(c)],
    ["Delete", deleting(c)],
  ])("with a %s of it that comes after the garbage collector", async (_, change) => {
    const place = await workspace();
    await family(place);
    const before = await comparable(place);
    await place.janus(afterCollector(place), fails(place));
    expect((await place.run([deleting(b), change, failing])).status.phase).toBe("RolledBack");
    expect(await comparable(place)).toEqual(before);
  });
});

describe("what goes with its owners before its own Delete comes is back", () => {
  it.each<readonly [string, readonly WrittenChange[]]>([
    ["one owner after the other", [deleting(a), deleting(b), failing, deleting(c)]],
    ["in the other order", [deleting(b), deleting(a), failing, deleting(c)]],
  ])("%s", async (_, changes) => {
    const place = await workspace();
    await family(place);
    const before = await comparable(place);
    await place.janus(afterCollection(place), fails(place));
    expect((await place.run(changes)).status.phase).toBe("RolledBack");
    expect(await comparable(place)).toEqual(before);
  });

  it("with an owner that goes so itself", async () => {
    const place = await workspace();
    const [first] = await place.create(a);
    const owned = (name: string, owner: KubeObject | undefined) => ({
      ...configMap(name, { x: "1" }),
      metadata: { name, ownerReferences: owner === undefined ? [] : [reference(owner)] },
    });
    const [second] = await place.create(owned("b", first));
    await place.create(owned("c", second));
    const before = await comparable(place);
    await place.janus(afterCollection(place), fails(place));
    const { status } = await place.run([deleting(a), failing, deleting(b), deleting(c)]);
    expect(status.phase).toBe("RolledBack");
    expect(await comparable(place)).toEqual(before);
    expect((await place.read(b)).metadata.ownerReferences).toEqual([reference(await place.read(a))]);
  });
});

it("an owner that is deleted is no change of what it owned by another client", async () => {
  const place = await workspace();
  await family(place);
  await place.janus(afterCollector(place));
  expect((await place.run([deleting(b), updating(c)])).status.phase).toBe("Committed");
  await expect
    .poll(async () => (await place.read(c)).metadata.ownerReferences)
    .toEqual([reference(await place.read(a))]);
  expect(await place.read(c)).toMatchObject({ data: { x: "2" } });
});

it("a reference that may not be rolled back is told of with its owner, and is back when it may be", async () => {
  const place = await workspace();
  await family(place);
  const before = await comparable(place);
  const { hook, refused } = refusing(
    (request) => request.purpose === "restore" && request.verb === "update" && request.name === "c",
    Number.POSITIVE_INFINITY,
    { ...unavailable, code: 403, reason: "Forbidden", message: "denied" },
  );
  const { stop } = await place.janus(afterCollector(place), fails(place), hook);
  const { status } = await place.run([deleting(b), failing, deleting(c)]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toBe(`ConfigMap ${place.namespace}/c: the API server refuses to roll it back: denied`);
  expect(refused()).toBe(1);
  await stop();
  await place.janus();
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [RETRY_ROLLBACK]: "please" } } });
  await expect.poll(async () => (await place.txn()).status.phase).toBe("RolledBack");
  expect(await comparable(place)).toEqual(before);
});
