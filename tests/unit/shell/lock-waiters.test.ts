import { expect, it } from "vitest";
import { leases } from "@janus/types";
import { newLockWaiters } from "../../../packages/controller/src/shell/reconcile/lock-waiters.ts";
import { underway, change } from "../core/underway.ts";

const { txn } = underway("Preparing", [change("Patch", "a")], { direction: "forward", cursor: 0 });

const began = (second: number) => ({
  ...txn,
  metadata: { ...txn.metadata, uid: `u-${second}` },
  status: { ...txn.status, startedAt: `2026-01-01T12:00:0${second}Z` },
});

const lease = (name: string) => ({ resource: leases, namespace: "shop", name });
const waitingFor = (name: string) => ({ index: 0, lease: lease(name) });

it("is in the order of those who wait, lock by lock, as they come and go", () => {
  const line = newLockWaiters();
  expect(line.first(lease("a"))).toBeUndefined();
  line.join({ txn: began(2), awaited: waitingFor("a") });
  line.join({ txn: began(1), awaited: waitingFor("a") });
  line.join({ txn: began(0), awaited: waitingFor("b") });
  expect(line.first(lease("a"))?.txn).toEqual(began(1));
  expect(line.queuedBefore(began(2), lease("a"))).toEqual(began(1));
  expect(line.queuedBefore(began(3), lease("a"))).toEqual(began(1));
  expect(line.queuedBefore(began(1), lease("a"))).toBeUndefined();
  expect(line.queuedBefore(began(0), lease("a"))).toBeUndefined();
  // It waits for another one now.
  line.join({ txn: began(1), awaited: waitingFor("b") });
  expect(line.first(lease("a"))?.txn).toEqual(began(2));
  line.leave("u-0");
  expect(line.first(lease("b"))?.txn).toEqual(began(1));
  line.leave("u-1");
  line.leave("u-1");
  expect(line.first(lease("b"))).toBeUndefined();
});
