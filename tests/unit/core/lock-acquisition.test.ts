import { type Change, REQUEST_YIELD, type Phase } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { LockObservation } from "../../../packages/controller/src/core/state/lock-observation.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { allowed, type Answer, change, former, later, observing, refused, underway } from "./underway.ts";
import { type KubeObject, namespaces } from "@janus/types";

const fresh: Change = { type: "Create", target: { apiVersion: "v1", kind: "Namespace", name: "fresh" }, content: {} };
const inside = (name: string): Change => {
  const { target, ...rest } = change("Create", name);
  return { ...rest, target: { ...target, namespace: "fresh" } };
};

const OTHER = "9f1c6f0e-2f6b-4c3e-9d3a-0d8a5b1c7e42";

const version = { uid: "lock", resourceVersion: "2" };

/** It has made the Namespace and what is before the cursor; the last lock is not as it was. */
const inItsOwn = (cursor: number, observed: LockObservation): ReconcileContext => {
  const at = underway("Committing", [fresh, inside("b"), inside("a")], { direction: "forward", cursor });
  const resources = new Map(at.known.resources).set("v1/Namespace", namespaces);
  return observing({ ...at, known: { ...at.known, resources } }, { 1: { lock: observed } });
};

const heldBySomebody = ({ purpose, call }: ApiCall): Answer => {
  const spec = { holderIdentity: "somebody", leaseDurationSeconds: 60 };
  return purpose === "read-lock" ? E.right(former("Lease", call.place.name, { spec })) : refused(404);
};

it("turns back, and gives none back, when a lock is lost on what it has made in a Namespace of its own", () => {
  const start = inItsOwn(2, { type: "held", version, until: NOW, stale: true });
  const { asked, at } = later(start, 2, heldBySomebody);
  expect(asked.map(({ purpose }) => purpose)).toEqual(["read-lock", "record"]);
  expect(at.txn.status.phase).toBe("RollingBack");
  expect(JSON.stringify(at.txn.status)).toContain("the lock on ConfigMap fresh/b was lost");
});

it("asks who has touched nothing for the locks in a Namespace of its own: the two could wait for each other", () => {
  const holder = `other/waiting/${OTHER}`;
  const observed = {
    type: "theirs",
    holder,
    version,
    readAt: NOW,
    unchangedSince: NOW,
    expires: NOW,
    holderState: "untouched",
  } as const;
  const step = decide(inItsOwn(1, observed));
  expect(step).toMatchObject({
    type: "run",
    effects: [{ purpose: "request-yield", call: { place: { name: "waiting" } } }],
  });
  expect(JSON.stringify(step)).toContain(REQUEST_YIELD);
});

it.each([
  ["takes over the lock of a finished one", undefined, "run"],
  ["leaves it to another one that is before it in the queue", "first", "wait"],
])("%s", (_, name, type) => {
  const observed = {
    type: "theirs",
    holder: `other/over/${OTHER}`,
    version,
    readAt: NOW,
    unchangedSince: NOW,
    expires: NOW + 60_000,
    holderState: "finished",
  } as const;
  const metadata = { namespace: "shop", name: name ?? "", uid: "u" };
  const queuedBefore = () => (name === undefined ? undefined : { metadata, status: { phase: "Preparing" } as const });
  expect(decide({ ...inItsOwn(1, observed), queuedBefore }).type).toBe(type);
});

/** As the API server has it. */
const transactionOf = (uid: string, phase: Phase, ...changes: readonly Change[]): KubeObject => ({
  ...former("Transaction", "other"),
  metadata: { name: "other", namespace: "shop", uid },
  spec: { changes },
  status: { phase },
});

/** It holds the lock on its one target, and somebody has written on it that another one asks for the way. */
const askedForTheWay = (): ReconcileContext => {
  const start = observing(
    underway("Preparing", [change("Create", "a")], { direction: "forward", cursor: 0 }, { serviceAccount: "there" }),
    { 0: { preflight: { permissions: allowed("create", "delete") } } },
  );
  const annotations = { [REQUEST_YIELD]: `shop/other/${OTHER}` };
  return { ...start, txn: { ...start.txn, metadata: { ...start.txn.metadata, annotations } } };
};

it.each([
  ["Committing", "is applying its changes"],
  ["RollingBack", "is rolling back"],
] as const)("yields to one that is %s, and says so", (phase, told) => {
  const other = transactionOf(OTHER, phase, change("Patch", "a"));
  const { asked, at } = later(askedForTheWay(), 1500, ({ purpose }) =>
    purpose === "read-holder" ? E.right(other) : E.right(former("Lease", "lock")),
  );
  expect(asked.slice(0, 2).map(({ purpose }) => purpose)).toEqual(["read-holder", "release-lock"]);
  expect(JSON.stringify(at.txn.status)).toContain(`yielding to Transaction shop/other, which ${told}`);
});

it("does not yield to a Transaction without any of its targets, even if its Lease names that one", () => {
  const { asked, at } = later(askedForTheWay(), 1500, ({ purpose }) => {
    if (purpose === "read-holder") return E.right(transactionOf(OTHER, "Committing", change("Patch", "b")));
    return refused(503);
  });
  expect(asked.slice(0, 2).map(({ purpose }) => purpose)).toEqual(["read-holder", "annotate"]);
  expect(at.txn.metadata.annotations).toEqual({});
  expect(asked.filter(({ purpose }) => purpose === "release-lock")).toEqual([]);
});

const inItsName = (ask: ApiCall) =>
  E.right(
    former("Lease", ask.call.place.name, {
      spec: { holderIdentity: `other/bystander/${OTHER}`, leaseDurationSeconds: 60 },
    }),
  );

const inStrangersName = (ask: ApiCall): Answer => {
  if (ask.purpose === "read-holder") return E.right(transactionOf(OTHER, "Preparing", change("Patch", "elsewhere")));
  return ask.call.verb === "get" || ask.call.verb === "mergePatch" ? inItsName(ask) : refused(409);
};

describe("a Lease that names a Transaction which has no such target", () => {
  const start = inItsOwn(1, { type: "taken" });

  it("makes nobody ask that one for the way", () => {
    const { asked } = later(start, 50_000, inStrangersName);
    expect(asked.map(({ purpose }) => purpose)).not.toContain("request-yield");
    expect(asked.map(({ purpose }) => purpose)).not.toContain("lock");
  });

  it("is taken over when it has not changed for its whole duration, as any that no Transaction holds", () => {
    const { asked } = later(start, 70_000, inStrangersName);
    expect(asked.map(({ purpose }) => purpose)).toContain("lock");
  });
});

it("needs no locks any more in a Namespace that it has deleted", () => {
  const gone: Change = { type: "Delete", target: { apiVersion: "v1", kind: "Namespace", name: "fresh" } };
  const { target } = change("Delete", "a");
  const at = underway(
    "Committing",
    [
      { type: "Delete", target: { ...target, namespace: "fresh" } },
      gone,
      { ...gone, target: { ...gone.target, name: "other" } },
    ],
    { direction: "forward", cursor: 2 },
  );
  const resources = new Map(at.known.resources).set("v1/Namespace", namespaces);
  const lock = { type: "lost", why: "it was deleted" } as const;
  const step = decide(observing({ ...at, known: { ...at.known, resources } }, { 0: { lock } }));
  expect(step).toMatchObject({ type: "run", effects: [{ purpose: "change", call: { place: { name: "other" } } }] });
});

const locksRead = (at: ReconcileContext): number =>
  later(at, 5_000, () => refused(404)).asked.filter(({ purpose }) => purpose === "read-lock").length;

it("reads none of hundreds of locks that it has not tried to acquire, while it waits for the first one", () => {
  const changes = Array.from({ length: 300 }, (_, n) => change("Create", `a-${n}`.padEnd(8, "x")));
  const start = underway("Preparing", changes, { direction: "forward", cursor: 0 }, { serviceAccount: "there" });
  const unlocked = Object.fromEntries(
    changes.map((_, index) => [index, { lock: undefined, preflight: { permissions: allowed("create", "delete") } }]),
  );
  const waiting = {
    ...observing(start, unlocked),
    queuedBefore: () => ({ metadata: start.txn.metadata, status: start.txn.status }),
  };
  expect(locksRead({ ...waiting, known: { ...waiting.known, begun: true } })).toBe(0);
  // A former process may have acquired them.
  expect(locksRead(waiting)).toBeGreaterThanOrEqual(299);
});
