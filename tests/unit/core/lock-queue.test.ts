import type { Phase, Transaction } from "@janus/api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Observations } from "../../../packages/controller/src/core/state/observations.ts";
import type { LockObservation } from "../../../packages/controller/src/core/state/lock-observation.ts";
import { withFreedLock, hasPriorityOver } from "../../../packages/controller/src/core/locks/lock-queue.ts";
import { acquire } from "../../../packages/controller/src/core/locks/lock-acquisition.ts";
import { leases } from "@janus/types";
import { resolvedTargets } from "../../../packages/controller/src/core/state/target-resolution.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { change, observingAll, underway } from "./underway.ts";

const { txn: some } = underway("Preparing", [change("Patch", "a")], { direction: "forward", cursor: 0 });

const waiting = (phase: Phase, startedAt: string, uid: string): Transaction => ({
  ...some,
  metadata: { ...some.metadata, uid },
  status: { ...some.status, phase, startedAt },
});

const anyone = fc
  .tuple(
    fc.constantFrom<Phase>("Preparing", "Committing", "RollingBack"),
    fc.constantFrom("2026-01-01T11:59:59Z", "2026-01-01T12:00:00Z"),
    fc.constantFrom("u-1", "u-2", "u-3"),
  )
  .map((args) => waiting(...args));

describe("of those who wait for a lock", () => {
  it("who has touched targets goes first, then who began first", () => {
    const inTurn = [
      waiting("RollingBack", "2026-01-01T12:00:02Z", "u-1"),
      waiting("Committing", "2026-01-01T12:00:01Z", "u-2"),
      waiting("Preparing", "2026-01-01T11:00:00Z", "u-4"),
      waiting("Preparing", "2026-01-01T12:00:00Z", "u-3"),
      waiting("Preparing", "2026-01-01T12:00:00Z", "u-5"),
    ];
    expect(inTurn.toReversed().toSorted((a, b) => (hasPriorityOver(a, b) ? -1 : 1))).toEqual(inTurn);
  });

  it("one always goes before the other, and never both", () => {
    fc.assert(
      fc.property(anyone, anyone, anyone, (a, b, c) => {
        const same = hasPriorityOver(a, b) === hasPriorityOver(b, a);
        expect(same).toBe(JSON.stringify(a) === JSON.stringify(b));
        expect(hasPriorityOver(a, b) && hasPriorityOver(b, c) && !hasPriorityOver(a, c)).toBe(false);
      }),
    );
  });
});

const first = waiting("Preparing", "2026-01-01T11:00:00Z", "u-0");
const at = underway("Preparing", [change("Patch", "a"), change("Patch", "b")], { direction: "forward", cursor: 0 });
const targets = resolvedTargets(at.txn, at.known);
const bIsWaitedFor: ReconcileContext["queuedBefore"] = ({ name }) => (name.endsWith("-b") ? first : undefined);

const nobody: ReconcileContext["queuedBefore"] = () => undefined;

const withLocks = (...locks: readonly LockObservation[]): Observations =>
  observingAll(at, (_, index) => ({ lock: locks[index] })).known;

const acquiring = (known: Observations, queuedBefore: ReconcileContext["queuedBefore"]) =>
  acquire({ ...at, queuedBefore, known }, targets);

const held = { type: "held", version: { uid: "lock", resourceVersion: "1" }, until: NOW + 300_000 } as const;

describe("a lock that nobody holds", () => {
  it("is left to who goes first, and no other is taken that comes after it in the order of all", () => {
    expect(acquiring(withLocks(), bIsWaitedFor)).toMatchObject({
      type: "acquiring",
      effects: [{ purpose: "lock", item: 0 }],
    });
    const waits = acquiring({ ...withLocks(held), begun: true }, bIsWaitedFor);
    expect(waits).toMatchObject({ type: "waiting", awaited: { index: 1 }, effects: [] });
    expect(JSON.stringify(waits)).toContain("Transaction shop/deploy-v2 is before it in the queue");
  });

  it("is read before it is left to others, where a former process may have acquired it", () => {
    expect(acquiring(withLocks(held), bIsWaitedFor)).toMatchObject({
      type: "acquiring",
      effects: [{ purpose: "read-lock", item: 1 }],
    });
  });

  it("is taken when nobody goes before, without another look by who has waited for it", () => {
    const version = { uid: "lock", resourceVersion: "1" };
    const theirs = {
      type: "theirs",
      holder: "x",
      version,
      readAt: NOW,
      unchangedSince: NOW,
      expires: NOW + 60_000,
    } as const;
    const known = withLocks(held, theirs);
    const waits = acquiring(known, nobody);
    if (waits.type !== "waiting") throw new Error(waits.type);
    expect(acquiring(withFreedLock(known, waits.awaited), nobody)).toMatchObject({
      type: "acquiring",
      effects: [{ purpose: "lock", item: 1 }],
    });
  });

  it("is held all the same, whoever is told that it is free: then it stays as it is known", () => {
    const lease = { resource: leases, namespace: "shop", name: "lock" };
    expect(withFreedLock(at.known, { index: 0, lease })).toBe(at.known);
  });
});
