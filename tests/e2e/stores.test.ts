import type { Hook } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { deleting, patching } from "../fixtures/changes.ts";
import { diesAt } from "../fixtures/dying.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap, secret, serviceAccount } from "../fixtures/manifests.ts";
import { allowOneService, oneTooMany } from "../fixtures/quota.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const stores = async ({ names }: Workspace): Promise<readonly string[]> =>
  [...(await names("v1", "ConfigMap")), ...(await names("v1", "Secret"))].filter((name) => /rollback/.test(name));

/** What a former Transaction of this name has left, to be found by people. */
const leftBehind = configMap("txn-rollback", {});

it("leaves no snapshot behind that a process did not live to record, also where a name before it is free again", async () => {
  const place = await workspace();
  await place.create(configMap("a", { value: "old" }), secret("s", { value: "old" }));
  await place.create({
    ...leftBehind,
    metadata: {
      ...leftBehind.metadata,
      labels: { "janus.io/transaction-uid": "11111111-2222-3333-4444-555555555555" },
    },
  });
  const dying = Promise.withResolvers<void>();
  // It dies before it can record what it has kept.
  const first = await place.janus((request, next) => {
    const body = JSON.stringify("body" in request ? request.body : "");
    if (request.purpose !== "record" || !body.includes('"phase":"Committing"')) return next(request);
    dying.resolve();
    return Promise.resolve(E.left({ type: "unanswered", cause: "never-sent", message: "it is dead" }));
  });
  await place.submit([patching(configMap("a", { value: "new" })), deleting(secret("s"))]);
  await dying.promise;
  await first.stop();
  expect((await stores(place)).toSorted()).toEqual(["txn-rollback", "txn-rollback-1", "txn-rollback-2"]);
  // The name is free again, and the Transaction can only fail.
  await place.remove(leftBehind);
  await place.remove(serviceAccount("deployer"));
  await place.janus();
  expect((await place.over()).status.phase).toBe("Failed");
  expect(await stores(place)).toEqual([]);
  expect((await place.names("v1", "ConfigMap")).filter((name) => name.includes("journal"))).toEqual([]);
});

/** Somebody is faster so many times, each time in a field that is none of ours; how many snapshots there were at most. */
const race = (place: Workspace, times: number) => {
  let most = 0;
  let lost = 0;
  const hook: Hook = async (request, next) => {
    if (!isChangeOf("there")(request)) return next(request);
    most = Math.max(most, (await stores(place)).length);
    if (lost === times) return next(request);
    lost += 1;
    await place.patch(configMap("there", { b: `${lost}` }));
    return next(request);
  };
  return { hook, most: () => most, lost: () => lost };
};

it("keeps three snapshots at most, however often other clients are faster, and deletes all in the end", async () => {
  const place = await workspace();
  await place.create(configMap("there", { a: "1", b: "0" }));
  const { hook, most, lost } = race(place, 6);
  await place.janus(hook);
  const { status } = await place.run([patching(configMap("there", { a: "2" }))]);
  expect(status.phase).toBe("Committed");
  expect(lost()).toBe(6);
  expect(most()).toBeLessThanOrEqual(3);
  expect(await stores(place)).toEqual([]);
});

it("rolls back to the state that the last faster client wrote", async () => {
  const place = await workspace();
  await place.create(configMap("there", { a: "1", b: "0" }));
  await allowOneService(place);
  const { hook, lost } = race(place, 4);
  await place.janus(hook);
  const { status } = await place.run([patching(configMap("there", { a: "2" })), ...oneTooMany]);
  expect(status.phase).toBe("RolledBack");
  expect(lost()).toBe(4);
  expect((await place.read(configMap("there")))["data"]).toEqual({ a: "1", b: "4" });
});

it.each<readonly [string, object]>([
  ["other content", { data: { injected: "x" } }],
  ["without the label that says whose it is", { metadata: { labels: { "janus.io/transaction-uid": null } } }],
])("changes nothing where admission keeps a snapshot with %s, and leaves nothing behind", async (_, made) => {
  const place = await workspace();
  await place.create(configMap("a", { value: "old" }));
  await place.janus((request, next) =>
    request.purpose === "store" && "body" in request
      ? next({ ...request, body: mergeInto(request.body, made) as object })
      : next(request),
  );
  const { status } = await place.run([patching(configMap("a", { value: "new" }))]);
  expect(status.phase).toBe("Failed");
  const message = status.conditions.find(({ type }) => type === "Ready")?.message;
  expect(message).toContain(
    "no changes were applied: the snapshot ConfigMap txn-rollback was modified when it was written",
  );
  expect((await place.read(configMap("a")))["data"]).toEqual({ value: "old" });
  expect(await stores(place)).toEqual([]);
});

/** RFC 7386. */
const mergeInto = (to: unknown, patch: object): unknown => {
  const merged = new Map<string, unknown>(Object.entries(to ?? {}));
  for (const [name, value] of Object.entries(patch) as [string, unknown][])
    if (value === null) merged.delete(name);
    else merged.set(name, typeof value === "object" ? mergeInto(merged.get(name), value) : value);
  return Object.fromEntries(merged);
};

describe("snapshots that are written beside the dry runs", () => {
  it.each(["before", "after"] as const)(
    "are taken again of a target that has changed since it was read: the dry run is answered %s them",
    async (order) => {
      const place = await workspace();
      await place.create(configMap("there", { a: "1", b: "0" }), configMap("same", { a: "1" }));
      await allowOneService(place);
      const answered = { "dry-run": Promise.withResolvers<void>(), store: Promise.withResolvers<void>() };
      const [earlier, later] = order === "before" ? (["dry-run", "store"] as const) : (["store", "dry-run"] as const);
      let edited = false;
      const racing: Hook = async (request, next) => {
        const { purpose } = request;
        if (purpose !== "store" && !(purpose === "dry-run" && "name" in request && request.name === "there"))
          return next(request);
        if (purpose === "dry-run" && !edited) {
          edited = true;
          await place.patch(configMap("there", { b: "theirs" }));
        }
        if (purpose === later) await answered[earlier].promise;
        const answer = await next(request);
        answered[purpose].resolve();
        return answer;
      };
      await place.submit([
        // The first one is read, and tried, before the others: its size says how many may be.
        patching(configMap("same", { a: "2" })),
        patching(configMap("there", { a: "2" })),
        ...oneTooMany,
      ]);
      // Another process rolls back, which knows no more than what is kept.
      await diesAt(place, ({ purpose }) => purpose === "restore", "before", racing);
      await place.janus();
      expect((await place.over()).status.phase).toBe("RolledBack");
      expect((await place.read(configMap("there", {})))["data"]).toEqual({ a: "1", b: "theirs" });
      expect((await place.read(configMap("same", {})))["data"]).toEqual({ a: "1" });
    },
  );

  it("are deleted with the journal where a dry run is refused", async () => {
    const place = await workspace();
    await place.create(configMap("a", { value: "old" }), configMap("b", { value: "old" }));
    let written = 0;
    await place.janus((request, next) => {
      if (request.purpose === "store") written += 1;
      return request.purpose === "dry-run" && "name" in request && request.name === "b"
        ? Promise.resolve(
            E.left({ type: "refused", code: 422, reason: "Invalid", message: "a policy says no", causes: [] }),
          )
        : next(request);
    });
    const { status } = await place.run(["a", "b"].map((name) => patching(configMap(name, { value: "new" }))));
    expect(status.phase).toBe("Failed");
    expect(written).toBe(1);
    await expect.poll(() => stores(place)).toEqual([]);
    const kept = async () => (await place.names("v1", "ConfigMap")).filter((name) => name.includes("journal"));
    await expect.poll(kept).toEqual([]);
  });
});
