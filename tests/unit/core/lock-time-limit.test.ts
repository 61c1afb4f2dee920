import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { hasPriorityOver } from "../../../packages/controller/src/core/locks/lock-queue.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { allowed, type Answer, change, former, later, observingAll, refused, underway } from "./underway.ts";

const MINUTE = 60_000;

/** It has the lock on `a` and, in the order of all, waits next for that on `b`, which somebody renews for ever. */
const idle = (nextWaiter: ReconcileContext["nextWaiter"]): ReconcileContext => {
  const changes = [change("Patch", "a"), change("Patch", "b")];
  const start = underway("Preparing", changes, { direction: "forward", cursor: 0 });
  const { known } = observingAll(start, (_, index, { lock }) => ({
    lock: index === 0 ? lock : undefined,
    preflight: { permissions: allowed("patch", "update") },
  }));
  return {
    ...start,
    txn: { ...start.txn, spec: { ...start.txn.spec, timeout: 1000 * 60 * MINUTE } },
    nextWaiter,
    known: { ...known, serviceAccount: "there", holdsSince: NOW },
  };
};

const answer = ({ purpose, call }: ApiCall, { now }: ReconcileContext): Answer => {
  if (purpose === "release-lock" || purpose === "renew-lock") return E.right(former("Lease", call.place.name));
  if (purpose === "lock") return refused(409);
  const lease = former("Lease", call.place.name, { spec: { holderIdentity: "somebody", leaseDurationSeconds: 60 } });
  return E.right({ ...lease, metadata: { ...lease.metadata, resourceVersion: String(now) } });
};

const other = underway("Preparing", [change("Patch", "a")], { direction: "forward", cursor: 0 }).txn;
const waiting = { ...other, metadata: { ...other.metadata, name: "other", uid: "u-other" } };
const wantsA: ReconcileContext["nextWaiter"] = ({ name }) => (name.endsWith("-a") ? waiting : undefined);

const released = (asked: readonly ApiCall[]): readonly string[] =>
  asked.flatMap(({ purpose, call }) => (purpose === "release-lock" ? [call.place.name] : []));

describe("one that has changed nothing, and waits for long itself,", () => {
  it("releases its locks when another Transaction waits for one of them, whatever its timeout is", () => {
    const { asked, at } = later(idle(wantsA), 2 * MINUTE, answer);
    expect(released(asked)).toContain("janus-lock-shop-configmap-a");
    expect(at.txn.status.phase).toBe("Preparing");
  });

  it("goes to the end of the line for that", () => {
    const { at } = later(idle(wantsA), 2 * MINUTE, answer);
    const { yieldedAt: behind } = at.known;
    if (behind === undefined) throw new Error("it has let nobody pass");
    expect(hasPriorityOver(at.txn, waiting)).toBe(true);
    expect(hasPriorityOver({ ...at.txn, behind }, waiting)).toBe(false);
  });

  it("keeps them as long as no other Transaction waits for them", () => {
    expect(
      released(
        later(
          idle(() => undefined),
          2 * MINUTE,
          answer,
        ).asked,
      ),
    ).toEqual([]);
  });

  it("keeps them for a minute, whoever waits for them", () => {
    expect(released(later(idle(wantsA), MINUTE - 1000, answer).asked)).toEqual([]);
  });
});
