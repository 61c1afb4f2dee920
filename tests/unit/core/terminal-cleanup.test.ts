import { FINALIZER, holderIdentity } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { inFlightWindow } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW, settings } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { allowed, type Answer, change, former, later, observing, refused, underway } from "./underway.ts";

const me = holderIdentity({ namespace: "shop", name: "deploy-v2", uid: UID });
const mine = former("Lease", "lock", { spec: { holderIdentity: me } });

const hasLock = ({ purpose }: ApiCall): Answer =>
  purpose === "read-lock" || purpose === "release-lock" ? E.right(mine) : refused(404);

const unanswered: Answer = E.left({ type: "unanswered", cause: "deadline", message: "no answer" });

it("releases the lock on what is of a kind that is served no more", () => {
  const start = observing(
    underway(
      "Committed",
      [change("Delete", "a", "Gadget")],
      { direction: "forward", cursor: 1 },
      { begun: true, resources: new Map([["v1/Gadget", null]]) },
    ),
    { 0: { lock: undefined } },
  );
  const { asked } = later(start, 60_000, hasLock);
  const released = asked.filter(({ purpose }) => purpose === "release-lock");
  expect(released.map(({ call }) => call.place)).toMatchObject([
    { namespace: "shop", name: "janus-lock-shop-gadget-a" },
  ]);
});

it("waits for what a former process may still be at, also where its clock was ahead of ours", () => {
  const { txn, known, ...rest } = observing(
    underway("Committed", [change("Delete", "a")], { direction: "forward", cursor: 1 }),
    { 0: { lock: undefined } },
  );
  const behind = NOW - 60_000;
  const start = { ...rest, txn, known: { ...known, since: behind }, now: behind };
  const early = later(start, inFlightWindow(settings) - 100, () => refused(404));
  expect(early.at.txn.metadata.finalizers).toEqual([FINALIZER]);
  const late = later(early.at, 1_000, () => refused(404));
  expect(late.at.txn.metadata.finalizers).toEqual([]);
});

it("releases a lock that it took over without being answered, and that only then turns up", () => {
  const lock = {
    type: "theirs",
    holder: "",
    version: { uid: "l", resourceVersion: "1" },
    readAt: NOW,
    unchangedSince: NOW,
    expires: NOW,
  } as const;
  const start = observing(
    underway(
      "Preparing",
      [change("Create", "a")],
      { direction: "forward", cursor: 0 },
      { begun: true, serviceAccount: "there" },
    ),
    { 0: { preflight: { permissions: allowed("create", "delete") }, lock } },
  );
  const gone = {
    ...start,
    txn: { ...start.txn, metadata: { ...start.txn.metadata, deletionTimestamp: "2026-01-01T12:00:00Z" } },
  };
  const theirs = former("Lease", "lock", { spec: { holderIdentity: "somebody" } });
  const claimed = later(start, 1, ({ purpose }) => (purpose === "lock" ? unanswered : refused(404))).at;
  const { asked } = later({ ...gone, known: claimed.known, now: claimed.now }, 60_000, ({ purpose }, { now }) => {
    if (purpose === "release-lock") return E.right(mine);
    return purpose === "read-lock" ? E.right(now < NOW + 3_000 ? theirs : mine) : refused(404);
  });
  expect(asked.map(({ purpose }) => purpose)).toContain("release-lock");
});

it("ends a rollbackWindow of which somebody has removed when it began", () => {
  const { txn, ...rest } = underway("Committed", [change("Delete", "a")], { direction: "forward", cursor: 1 });
  const { completedAt: _, ...status } = txn.status;
  const isOf = { type: "Reversible", status: "True", reason: "WithinWindow", message: "" } as const;
  const within = { ...isOf, observedGeneration: 1, lastTransitionTime: "2026-01-01T12:00:00Z" };
  const start = { ...rest, txn: { ...txn, status: { ...status, conditions: [...status.conditions, within] } } };
  const { at } = later(start, 60_000, () => refused(404));
  expect(at.txn.status.conditions.find(({ type }) => type === "Reversible")).toMatchObject({ reason: "WindowPassed" });
});
