import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { renewals } from "../../../packages/controller/src/core/locks/lock-renewal.ts";
import { lockTimeoutNotice } from "../../../packages/controller/src/core/locks/lock-requests.ts";
import { changeIn } from "../../../packages/controller/src/core/state/observations.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { resolvedTargets } from "../../../packages/controller/src/core/state/target-resolution.ts";
import { change, former, observingAll, refused, underway } from "./underway.ts";
import { learn } from "./learn.ts";

const MINUTE = 60_000;
/** How often it is looked for locks that are due. */
const ROUND = 250;

/** It waits for a gate, and holds so many locks, with the shortest lockTimeout. */
const gated = (locks: number): ReconcileContext => {
  const changes = Array.from({ length: locks }, (_, n) => change("Create", `a-${n}`));
  const at = underway("Committing", changes, { direction: "forward", cursor: 1 });
  const short = { ...at.txn, spec: { ...at.txn.spec, lockTimeout: 1_000 } };
  return observingAll({ ...at, txn: short }, (_, index) => ({
    lock: { type: "held", version: { uid: `lock-${index}`, resourceVersion: "1" }, until: at.now, renewAt: at.now },
  }));
};

/** How many renewals are sent in each minute, where its namespace has so many locks; and whether all were always valid. */
const renewed = (start: ReconcileContext, minutes: number, locksOfNamespace: (at: number) => number) => {
  const sent = Array.from({ length: minutes }, () => 0);
  let at = start;
  let areValid = true;
  for (let now = start.now; now < start.now + minutes * MINUTE; now += ROUND) {
    at = { ...at, now, locksOfNamespace: locksOfNamespace(now - start.now) };
    for (const request of renewals(at, resolvedTargets(at.txn, at.known))) {
      const minute = Math.floor((now - start.now) / MINUTE);
      sent[minute] = (sent[minute] ?? 0) + 1;
      const lease = former("Lease", request.call.place.name);
      at = { ...at, known: learn(at, request, E.right(lease), now) };
    }
    for (const index of at.known.changes.keys()) {
      const { lock } = changeIn(at.known, index);
      areValid &&= lock?.type === "held" && lock.until > now + at.settings.writeTimeout;
    }
  }
  return { sent, areValid };
};

describe("the renewal of locks", () => {
  it("takes a bounded number of requests, however many Transactions of a namespace hold locks for however short a time", () => {
    const transactions = 40;
    const { sent, areValid } = renewed(gated(500), 12, () => transactions * 500);
    // All are due at the start.
    expect(sent.reduce((sum, n) => sum + n, 0) * transactions).toBeLessThanOrEqual(12 * 60 * 100 + transactions * 500);
    expect(areValid).toBe(true);
  });

  it("is not repeated because the namespace has got more locks meanwhile", () => {
    const { sent, areValid } = renewed(gated(100), 10, (passed) => passed / 30);
    expect(sent[0]).toBeLessThanOrEqual(100 * 16);
    expect(sent[9]).toBeLessThanOrEqual(100 * 2);
    expect(areValid).toBe(true);
  });

  it("is as often as lockTimeout says, where the namespace has few", () => {
    const { sent } = renewed(gated(10), 3, () => 10);
    const { settings } = gated(10);
    const quarter = (3 * (settings.writeTimeout + 20)) / 4;
    expect(sent[2]).toBeGreaterThanOrEqual(10 * Math.floor(MINUTE / (quarter + ROUND)));
  });
});

it("says for which locks their duration was raised", () => {
  expect(lockTimeoutNotice(gated(10)).join()).toContain("leaves too little time for a write");
  expect(lockTimeoutNotice({ ...gated(10), locksOfNamespace: 20_000 }).join()).toBe(
    "lock duration raised to 800s: lockTimeout (1s) leaves too little time for the renewal of all 20000 locks of its namespace",
  );
});

it("a renewal that is refused when nothing is known of its lock any more says nothing of it: the Lease is read", () => {
  const held = gated(1);
  const [renewal] = renewals(held, resolvedTargets(held.txn, held.known)).filter(
    ({ purpose }) => purpose === "renew-lock",
  );
  if (renewal === undefined) throw new Error("no lock is renewed");
  const forgotten = { ...held, known: { ...held.known, changes: new Map() } };
  const known = learn(forgotten, renewal, refused(403, "not now"), held.now);
  expect(changeIn(known, renewal.item ?? -1).lock).toEqual({ type: "taken" });
});
