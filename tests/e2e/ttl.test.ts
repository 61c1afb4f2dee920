import type { Hook } from "@janus/kube";
import { describe, expect, it } from "vitest";
import { creating, patching } from "../fixtures/changes.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { recording } from "../fixtures/recording.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const config = configMap("config", { value: "old" });
const change = patching(configMap("config", { value: "new" }));
const failing = creating(configMap("last"));

/** Makes the change `failing` fail when it is made. */
const fails =
  ({ create }: Workspace): Hook =>
  async (request, next) => {
    if (isChangeOf("last")(request)) await create(configMap("last", { whose: "somebody's" }));
    return next(request);
  };

const isGone = (place: Workspace, name = "txn") => expect.poll(() => place.exists(transaction(name))).toBe(false);

const value = async ({ read }: Workspace) => (await read(config))["data"];

/** Proves that by now the controller has had its turn with what came before. */
const another = async (place: Workspace): Promise<void> => {
  await place.submit([patching(configMap("config", { another: "1" }))], {
    name: "another",
    ttlSecondsAfterFinished: 0,
  });
  await isGone(place, "another");
};

describe("ttlSecondsAfterFinished", () => {
  it.each([
    ["Committed", 0, "new"],
    ["Committed", 2, "new"],
    ["RolledBack", 0, "old"],
    ["RolledBack", 2, "old"],
  ] as const)("deletes one that is %s after %i s, with one request", async (phase, ttlSecondsAfterFinished, after) => {
    const place = await workspace();
    await place.create(config);
    const { hook, requests } = recording();
    let ended = 0;
    let expired = 0;
    await place.janus(hook, fails(place), async (request, next) => {
      if (request.purpose === "record" && JSON.stringify(request).includes(`"phase":"${phase}"`)) ended = Date.now();
      if (request.purpose === "expire") expired = Date.now();
      return next(request);
    });
    await place.submit(phase === "Committed" ? [change] : [change, failing], { ttlSecondsAfterFinished });
    await isGone(place);
    expect(await value(place)).toEqual({ value: after });
    expect(ended).toBeGreaterThan(0);
    // The time of the end is kept in whole seconds.
    expect(expired - ended).toBeGreaterThanOrEqual(ttlSecondsAfterFinished * 1000 - 1000);
    await another(place);
    expect(requests.filter(({ purpose }) => purpose === "expire")).toHaveLength(2);
    expect(await place.names("coordination.k8s.io/v1", "Lease")).toEqual([]);
  });

  it("deletes one that has Failed before it has touched anything", async () => {
    const place = await workspace();
    await place.janus();
    await place.submit([change], { ttlSecondsAfterFinished: 0 });
    await isGone(place);
    expect(await place.exists(config)).toBe(false);
  });

  it("keeps one that has Failed and has still something to restore, until that is done", async () => {
    const place = await workspace();
    await place.create(config);
    await place.janus(async (request, next) => {
      if (isChangeOf("last")(request)) await place.patch(configMap("config", { value: "theirs" }));
      return next(request);
    }, fails(place));
    const { status } = await place.run([change, failing], { ttlSecondsAfterFinished: 0 });
    expect(status.phase).toBe("Failed");
    await another(place);
    expect((await place.txn()).metadata).not.toHaveProperty("deletionTimestamp");
    expect(await place.exists(configMap("txn-rollback"))).toBe(true);

    await place.patch(config);
    await place.patch({
      ...transaction("txn"),
      metadata: { name: "txn", annotations: { "backup.janus.io/retry-rollback": "1" } },
    });
    await isGone(place);
    expect(await value(place)).toMatchObject({ value: "old" });
  });

  it("is kept by the next controller where one did not live to see it", async () => {
    const place = await workspace();
    await place.create(config);
    const { stop } = await place.janus();
    await place.submit([change], { ttlSecondsAfterFinished: 3 });
    await place.over();
    await stop();
    await place.janus();
    await isGone(place);
    expect(await value(place)).toEqual({ value: "new" });
  });

  it("leaves alone what has no such field", async () => {
    const place = await workspace();
    await place.create(config);
    await place.janus();
    await place.run([change]);
    await another(place);
    expect((await place.txn()).status.phase).toBe("Committed");
  });

  it("cannot be negative", async () => {
    const place = await workspace();
    await expect(place.submit([change], { ttlSecondsAfterFinished: -1 })).rejects.toThrow(
      "ttlSecondsAfterFinished must not be negative",
    );
  });
});
