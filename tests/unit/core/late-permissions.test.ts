import type { Change } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import { noObservations } from "../../../packages/controller/src/core/state/observations.ts";
import { reviews } from "../../../packages/controller/src/core/preflight/permissions.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { itemsOf } from "../../../packages/controller/src/core/state/resolved-changes.ts";
import {
  type Answer,
  change,
  checkpointed,
  former,
  later,
  observing,
  observingAll,
  refused,
  underway,
} from "./underway.ts";
import { learn } from "./learn.ts";

/** It brings a ServiceAccount, and then means to create what the Transaction has no right to. */
const CHANGES = [change("Create", "helper", "ServiceAccount"), change("Create", "coredns")];

const review = (allowed: boolean): Answer => E.right(former("SelfSubjectAccessReview", "", { status: { allowed } }));

const resourceOf = ({ call }: ApiCall): string =>
  "body" in call
    ? (call.body as { spec: { resourceAttributes: { resource: string } } }).spec.resourceAttributes.resource
    : "";

const asks = (asked: readonly ApiCall[], name: string): readonly string[] =>
  asked.filter(({ call }) => call.place.name.endsWith(name)).map(({ purpose }) => purpose);

const lease = ({ call: { place } }: ApiCall): Answer => E.right(former("Lease", place.name));

/** The first change is in; what the second one needs was not there when everything was prepared. */
const inItsTurn = (): ReconcileContext => {
  const start = underway("Committing", CHANGES, { direction: "forward", cursor: 1 });
  const [first, second] = start.txn.status.items;
  if (first === undefined || second === undefined) throw new Error("two changes, two items");
  const { lock: _, ...unlocked } = second;
  return observing(
    { ...start, txn: { ...start.txn, status: { ...start.txn.status, items: [first, unlocked] } } },
    { 1: { lock: undefined } },
  );
};

describe("what the ServiceAccount has no right to", () => {
  it("is not locked before the first change, where an earlier change may bring the permission", () => {
    const start = underway("Preparing", CHANGES, { direction: "forward", cursor: 0 });
    const { known } = observingAll(start, () => ({ lock: undefined, before: undefined }));
    const { asked } = later({ ...start, known: { ...known, serviceAccount: "there" } }, 200, (ask) => {
      if (ask.purpose === "review") return review(resourceOf(ask) === "serviceaccounts");
      if (ask.purpose === "lock") return lease(ask);
      return ask.purpose === "dry-run" ? refused(403) : refused(404);
    });
    expect(asks(asked, "-helper")).toContain("lock");
    expect(asks(asked, "-coredns")).not.toContain("lock");
  });

  it("is locked in its turn, once the permission is granted, and only then changed", () => {
    let reviewed = 0;
    const { asked } = later(inItsTurn(), 1100, (ask, at) => {
      if (ask.purpose === "review") return review((reviewed += 1) > 2);
      if (ask.purpose === "checkpoint") return checkpointed(at, ask);
      return ask.purpose === "lock" ? lease(ask) : E.right(former("ConfigMap", "coredns"));
    });
    const order = asked.map(({ purpose }) => purpose).filter((purpose) => purpose !== "record");
    expect(order.slice(0, 6)).toEqual(["review", "review", "review", "review", "lock", "change"]);
  });

  it("is waited for half a minute, and never locked, neither before nor in the rollback that follows", () => {
    const { asked, at } = later(inItsTurn(), 60_000, (ask, now) => {
      if (ask.purpose === "review") return review(false);
      if (ask.purpose === "checkpoint") return checkpointed(now, ask);
      return refused(404);
    });
    expect(at.txn.status.phase).toBe("RolledBack");
    expect(JSON.stringify(at.txn.status)).toContain("grant it the verbs create and delete on configmaps");
    expect(asked.filter(({ purpose, item }) => purpose === "lock" && item === 1)).toEqual([]);
    expect(asked.map(({ purpose }) => purpose)).not.toContain("change");
  });
});

describe("whether the ServiceAccount may do it", () => {
  const all: readonly Change[] = Array.from({ length: 100 }, (_, n) => change("Patch", `c${n}`));
  const { txn, known } = underway("Preparing", all, { direction: "forward", cursor: 0 });
  const items = itemsOf(txn, known);
  const unknown = { ...noObservations(0), resources: known.resources };

  it("is asked once for all targets of a kind in a namespace", () => {
    const asked = reviews(items, unknown);
    expect(asked).toHaveLength(2);
    const told = asked.reduce((known, effect) => learn({ txn, known }, effect, review(true)), unknown);
    expect(reviews(items, told)).toEqual([]);
  });

  it("is asked one by one where it may not do it to all", () => {
    const told = reviews(items, unknown).reduce(
      (known, effect) => learn({ txn, known }, effect, review(false)),
      unknown,
    );
    expect(reviews(items, told)).toHaveLength(200);
  });

  it("is asked without a name for what is to be created: the API server has none to compare with", () => {
    const [one] = itemsOf(...creating());
    const bodies = reviews(one === undefined ? [] : [one], unknown).map(({ call }) => JSON.stringify(call));
    expect(bodies.find((body) => body.includes('"verb":"create","namespace"'))).not.toContain('"name":"a"');
    expect(bodies.find((body) => body.includes('"verb":"delete"'))).toContain('"name":"a"');
  });
});

const creating = () => {
  const { txn, known } = underway("Preparing", [change("Create", "a")], { direction: "forward", cursor: 0 });
  return [txn, known] as const;
};
