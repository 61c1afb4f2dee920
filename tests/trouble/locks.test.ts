import { lockLease } from "@janus/api";
import type { Hook } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { patching } from "../fixtures/changes.ts";
import { configMap, lease } from "../fixtures/manifests.ts";
import { unavailable } from "../fixtures/refusing.ts";
import { type Workspace, workspace } from "../fixtures/workspace.ts";

const lockOf = ({ namespace }: Workspace, name: string): string =>
  lockLease({ group: "", kind: "ConfigMap", namespace, name });

const leases = ({ names }: Workspace) => names("coordination.k8s.io/v1", "Lease");

const both = [patching(configMap("a", { v: "1" })), patching(configMap("b", { v: "1" }))];

/** Holds the lock on `a`, which comes before that on `b`. */
const somebody = (place: Workspace) =>
  place.create(lease(lockOf(place, "a"), { holderIdentity: "somebody", leaseDurationSeconds: 3600 }));

describe("waiting for a lock gives back those that come after it, so that nobody waits in a circle,", () => {
  it.each([
    [
      "also where the Lease was renewed just before",
      (place: Workspace): Hook => {
        let met = false;
        return async (request, next) => {
          if (request.purpose === "release-lock" && !met) {
            met = true;
            await place.patch(lease(lockOf(place, "b"), { renewTime: "2030-01-01T00:00:00.000000Z" }));
          }
          return next(request);
        };
      },
    ],
    [
      "also where giving it back is not answered",
      (): Hook => {
        let met = false;
        return async (request, next) => {
          if (request.purpose !== "release-lock" || met) return next(request);
          met = true;
          return E.left(unavailable);
        };
      },
    ],
  ])("%s", async (_, hook) => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"));
    await somebody(place);
    await place.janus(hook(place));
    await place.submit(both);
    await expect.poll(async () => (await place.txn()).status?.phase).toBe("Preparing");
    await expect.poll(() => leases(place)).toContain(lockOf(place, "b"));
    await expect.poll(() => leases(place)).toEqual([lockOf(place, "a")]);
    await place.remove(lease(lockOf(place, "a")));
    expect((await place.over()).status.phase).toBe("Committed");
  });

  it("also those of a former process, of which this one has not heard yet", async () => {
    const place = await workspace();
    await place.create(configMap("a"), configMap("b"));
    await somebody(place);
    const { metadata } = await place.submit(both);
    await place.create(
      lease(lockOf(place, "b"), {
        holderIdentity: `${place.namespace}/txn/${metadata.uid}`,
        leaseDurationSeconds: 3600,
      }),
    );
    // Its own lock is not even asked for: trouble comes first.
    await place.janus(async (request, next) =>
      request.purpose === "lock" && JSON.stringify(request).includes(lockOf(place, "b"))
        ? E.left(unavailable)
        : next(request),
    );
    await expect.poll(() => leases(place)).toEqual([lockOf(place, "a")]);
  });
});
