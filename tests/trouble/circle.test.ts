// Nobody waits for locks in a circle.
import { FINALIZER, REQUEST_YIELD, holderIdentity } from "@janus/api";
import type { Hook, KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { gate, isChangeOf } from "../fixtures/gate.ts";
import { configMap, lease } from "../fixtures/manifests.ts";
import { unavailable } from "../fixtures/refusing.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";
import { both, leases, lockOf, somebody } from "./contended.ts";

/** As a holder of locks. */
const identity = ({ metadata: { namespace = "", name = "", uid = "" } }: KubeObject): string =>
  holderIdentity({ namespace, name, uid });

/** A hook that does something at the first request to give a lock back, and whether it has. */
const atFirstRelease =
  (does: (place: Workspace, ...args: Parameters<Hook>) => ReturnType<Hook>) => (place: Workspace) => {
    let met = false;
    const hook: Hook = (request, next) => {
      if (request.purpose !== "release-lock" || met) return next(request);
      met = true;
      return does(place, request, next);
    };
    return { hook, isMet: () => met };
  };

describe("waiting for a lock gives back those that come after it, so that nobody waits in a circle,", () => {
  it.each([
    [
      "also where the Lease was renewed just before",
      atFirstRelease(async (place, request, next) => {
        await place.patch(lease(lockOf(place, "b"), { renewTime: "2030-01-01T00:00:00.000000Z" }));
        return next(request);
      }),
    ],
    ["also where giving it back is not answered", atFirstRelease(() => Promise.resolve(E.left(unavailable)))],
  ])("%s", async (_, trouble) => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"));
    await somebody(place);
    const { hook, isMet } = trouble(place);
    await place.janus(hook);
    await place.submit(both);
    await expect.poll(isMet).toBe(true);
    await expect.poll(() => leases(place)).toEqual([lockOf(place, "a")]);
    await place.remove(lease(lockOf(place, "a")));
    expect((await place.over()).status.phase).toBe("Committed");
  });
});

it("yields also with the locks of a former process, of which this one has not heard yet", async () => {
  const place = await workspace();
  await place.create(configMap("a"), configMap("b"));
  const [first, second] = [gate(isChangeOf("a")), gate((request) => "name" in request && request.name === "second")];
  await place.janus(first.hook, second.hook);
  const asker = await place.submit(both, { name: "first" });
  await first.reached;
  const waiting = await place.submit([patching(configMap("b", { v: "2" }))], { name: "second" });
  await place.patch(lease(lockOf(place, "b"), { holderIdentity: identity(waiting) }));
  const annotations = { [REQUEST_YIELD]: identity(asker) };
  await place.patch({ ...transaction("second"), metadata: { name: "second", annotations, finalizers: [FINALIZER] } });
  const status = { phase: "Preparing", startedAt: new Date().toISOString(), version: 1, items: [{}] };
  await place.patch({ ...transaction("second"), status }, "status");
  second.open();
  await expect.poll(() => leases(place)).toEqual([lockOf(place, "a")]);
  first.open();
  expect((await place.over("first")).status.phase).toBe("Committed");
  expect((await place.over("second")).status.phase).toBe("Committed");
});
