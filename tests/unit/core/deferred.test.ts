import { type Change, fieldManager, holderIdentity } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, checkpoints, former, later, observing, refused, underway } from "./underway.ts";
import type { KubeObject } from "@janus/types";

const MINUTE = 60_000;
const manager = fieldManager({ name: "deploy-v2", uid: UID });
const marked = { managedFields: [{ manager, operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } }] } as const;

const patched = (name: string): KubeObject =>
  former("ConfigMap", name, { data: { a: "new" }, metadata: { ...marked } });
const created = (name: string, kind = "ConfigMap", more: object = {}): KubeObject =>
  former(kind, name, { metadata: { ...marked, ...more } });
const terminating = { deletionTimestamp: "2026-01-01T12:00:00Z", finalizers: ["example.com/stuck"] };

const unavailable = (message: string): Answer =>
  E.left({ type: "refused", code: 500, reason: "InternalError", message, causes: [] });

/** All of the changes are in, and are rolled back. */
const rollingBack = (changes: readonly Change[]): ReconcileContext =>
  underway("RollingBack", changes, {
    direction: "back",
    cursor: changes.length - 1,
    reached: changes.length,
    since: NOW,
  });

/** Every object is as it was after the change until a write restores or deletes it, unless `stuck` answers. */
const server = (there: readonly KubeObject[], stuck: (ask: ApiCall, at: ReconcileContext) => Answer | undefined) => {
  const objects = new Map(there.map((object) => [object.metadata.name ?? "", object]));
  const done: string[] = [];
  const checkpoint = checkpoints();
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    const strange = stuck(ask, at);
    if (strange !== undefined) return strange;
    const { name } = ask.call.place;
    if (ask.purpose === "restore") {
      done.push(name);
      if (ask.call.verb === "delete") objects.delete(name);
      else objects.set(name, former("ConfigMap", name));
    }
    const object = objects.get(name);
    return object === undefined ? refused(404) : E.right(object);
  };
  return { answer, done };
};

const states = ({ txn }: ReconcileContext): readonly string[] => txn.status.items.map(({ state }) => state.type);

const errors = ({ txn }: ReconcileContext): readonly string[] =>
  txn.status.items.flatMap(({ state }) => ("error" in state && state.error !== undefined ? [state.error] : []));

describe("an item that cannot finish its rollback does not hold up the others:", () => {
  it.each([
    [
      "a finalizer that nobody removes",
      (ask: ApiCall) =>
        ask.purpose === "read-target" && ask.call.place.name === "b"
          ? E.right(created("b", "ConfigMap", terminating))
          : undefined,
    ],
    [
      "an admission webhook that is down",
      (ask: ApiCall) =>
        ask.purpose === "restore" && ask.call.place.name === "b"
          ? unavailable("failed calling webhook: connection refused")
          : undefined,
    ],
    [
      "an API server of its kind that does not answer",
      (ask: ApiCall) =>
        ask.purpose === "read-target" && ask.call.place.name === "b" ? unavailable("not available") : undefined,
    ],
  ] as const)("%s", (_, stuck) => {
    const { answer, done } = server([patched("a"), created("b"), patched("c")], stuck);
    const start = rollingBack([change("Patch", "a"), change("Create", "b"), change("Patch", "c")]);
    const soon = later(start, MINUTE, answer);
    expect(done.filter((name) => name !== "b")).toEqual(["c", "a"]);
    expect(soon.at.txn.status.phase).toBe("RollingBack");
    const { at } = later(soon.at, 40 * MINUTE, answer);
    expect(at.txn.status.phase).toBe("Failed");
    expect(states(at)).toEqual(["restored", "rollback-failed", "restored"]);
  });

  it("a lock that another client holds", () => {
    const { answer, done } = server([patched("a"), patched("b"), patched("c")], (ask) =>
      ask.call.place.resource.kind === "Lease"
        ? E.right(
            former("Lease", ask.call.place.name, { spec: { holderIdentity: "kubectl", leaseDurationSeconds: 9 } }),
          )
        : undefined,
    );
    const all = rollingBack([change("Patch", "a"), change("Patch", "b"), change("Patch", "c")]);
    const start = observing(all, { 1: { lock: { type: "taken" } } });
    // It is renewed at every look.
    let renewals = 0;
    const renewed = (ask: ApiCall, at: ReconcileContext): Answer => {
      const reply = answer(ask, at);
      renewals += 1;
      return ask.purpose === "read-lock" && E.isRight(reply)
        ? E.right({ ...reply.right, metadata: { ...reply.right.metadata, resourceVersion: `${renewals}` } })
        : reply;
    };
    const { at } = later(start, MINUTE, renewed);
    expect(done).toEqual(["c", "a"]);
    expect(JSON.stringify(at.txn.status.conditions)).toContain("is held by kubectl");
  });
});

describe("a lock that may not be renewed, as where a policy freezes the Leases of a namespace,", () => {
  const me = holderIdentity({ namespace: "shop", name: "deploy-v2", uid: UID });
  const frozen = (ask: ApiCall): Answer | undefined => {
    if (ask.call.place.resource.kind !== "Lease") return undefined;
    if (ask.purpose === "renew-lock" && ask.call.place.name.endsWith("-b"))
      return refused(422, "the namespace is frozen");
    return E.right(former("Lease", ask.call.place.name, { spec: { holderIdentity: me } }));
  };

  it.each([
    ["another process has taken over", undefined],
    ["it has just become invalid", { type: "held", version: { uid: "l", resourceVersion: "1" }, until: NOW }],
  ] as const)("fails its own item, after a while, and not the others: %s", (_, lock) => {
    const { answer, done } = server([patched("a"), patched("b")], frozen);
    const start = observing(rollingBack([change("Patch", "a"), change("Patch", "b")]), { 0: { lock }, 1: { lock } });
    const soon = later(start, 20_000, answer);
    expect(done).toEqual(["a"]);
    expect(soon.at.txn.status.phase).toBe("RollingBack");
    const { at, asked } = later(soon.at, 30_000, answer);
    expect(soon.asked.length + asked.length).toBeLessThan(150);
    expect(errors(at)).toEqual(["ConfigMap shop/b: its lock cannot be renewed: the namespace is frozen"]);
    expect(states(at)).toEqual(["restored", "rollback-failed"]);
  });

  it("stops the Transaction that still goes forward", () => {
    const { answer, done } = server([], frozen);
    const lock = { type: "held", version: { uid: "l", resourceVersion: "1" }, until: NOW } as const;
    const start = observing(
      underway("Committing", [change("Patch", "a"), change("Patch", "b")], { direction: "forward", cursor: 0 }),
      { 1: { lock } },
    );
    const { at, asked } = later(start, 40_000, answer);
    expect(asked.length).toBeLessThan(150);
    expect(done).toEqual([]);
    expect(at.txn.status.conditions.find(({ type }) => type === "Committed")).toMatchObject({
      reason: "LockRenewalFailed",
      message: expect.stringContaining("its lock cannot be renewed: the namespace is frozen") as string,
    });
  });
});

it("retries a deferred item, and ends RolledBack when it can be restored", () => {
  const { answer, done } = server([patched("a"), created("b")], (ask, { now }) =>
    ask.purpose === "read-target" && ask.call.place.name === "b"
      ? now < NOW + 3 * MINUTE
        ? E.right(created("b", "ConfigMap", terminating))
        : refused(404)
      : undefined,
  );
  const { at } = later(rollingBack([change("Patch", "a"), change("Create", "b")]), 10 * MINUTE, answer);
  expect(done).toEqual(["a"]);
  expect(at.txn.status.phase).toBe("RolledBack");
  expect(states(at)).toEqual(["restored", "restored"]);
});

it("does not delete what a deferred item may need for its own rollback", () => {
  const { answer, done } = server([created("role", "Role"), patched("a"), created("b")], (ask, { now }) =>
    ask.purpose === "read-target" && ask.call.place.name === "b"
      ? now < NOW + 3 * MINUTE
        ? E.right(created("b", "ConfigMap", terminating))
        : refused(404)
      : undefined,
  );
  const changes = [change("Create", "role", "Role"), change("Patch", "a"), change("Create", "b")];
  const before = later(rollingBack(changes), 2 * MINUTE, answer);
  expect(done).toEqual(["a"]);
  const { at } = later(before.at, 10 * MINUTE, answer);
  expect(done).toEqual(["a", "role"]);
  expect(at.txn.status.phase).toBe("RolledBack");
});

it("retries a refused item once when the items that were deferred before it are done", () => {
  const quota = E.left({
    type: "refused",
    code: 403,
    reason: "Forbidden",
    message: "exceeded quota",
    causes: [],
  } as const);
  const { answer } = server([created("b")], (ask, { now }) => {
    const isOver = now >= NOW + 3 * MINUTE;
    if (ask.purpose === "read-target" && ask.call.place.name === "b")
      return isOver ? refused(404) : E.right(created("b", "ConfigMap", terminating));
    return ask.purpose === "restore" && ask.call.verb === "create" && !isOver ? quota : undefined;
  });
  const start = rollingBack([change("Delete", "a"), change("Create", "b")]);
  const { at } = later(start, 10 * MINUTE, answer);
  expect(states(at)).toEqual(["restored", "restored"]);
});

/** Refuses to restore `a` for so long. */
const denied = (until: number) =>
  server([patched("a"), created("b")], (ask, { now }) =>
    ask.purpose === "restore" && ask.call.place.name === "a" && now < NOW + until ? refused(403) : undefined,
  ).answer;

describe("an item that is refused right after another one was rolled back, as by a policy that the Transaction has just deleted:", () => {
  const start = rollingBack([change("Patch", "a"), change("Create", "b")]);

  it("is tried again for some seconds, and ends RolledBack when it is allowed", () => {
    const { at } = later(start, MINUTE, denied(5_000));
    expect(at.txn.status.phase).toBe("RolledBack");
    expect(states(at)).toEqual(["restored", "restored"]);
  });

  it("ends Failed when it is refused for longer", () => {
    expect(later(start, 9_000, denied(MINUTE)).at.txn.status.phase).toBe("RollingBack");
    const { at } = later(start, 15_000, denied(MINUTE));
    expect(at.txn.status.phase).toBe("Failed");
    expect(states(at)).toEqual(["rollback-failed", "restored"]);
  });

  it("ends Failed at once where nothing was rolled back before it", () => {
    const { at } = later(rollingBack([change("Patch", "a")]), 1_000, denied(MINUTE));
    expect(at.txn.status.phase).toBe("Failed");
  });
});

it("bounds the time of each item, not of all of them together", () => {
  const { answer, done } = server([patched("a"), created("b"), created("c")], (ask) =>
    ask.purpose === "read-target" && ["b", "c"].includes(ask.call.place.name)
      ? E.right(created(ask.call.place.name, "ConfigMap", terminating))
      : undefined,
  );
  const start = rollingBack([change("Patch", "a"), change("Create", "b"), change("Create", "c")]);
  const { at } = later(start, 80 * MINUTE, answer);
  expect(done).toEqual(["a"]);
  expect(states(at)).toEqual(["restored", "rollback-failed", "rollback-failed"]);
});

it("goes on while the status of a target is written all the time: a lost race is not counted as a PUT", () => {
  let version = 1;
  let lost = 0;
  const busy = (): KubeObject => {
    version += 1;
    const object = patched("a");
    return { ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } };
  };
  const { answer } = server([], (ask) => {
    if (ask.call.place.name !== "a") return undefined;
    if (ask.purpose === "read-target") return lost < 25 ? E.right(busy()) : undefined;
    if (ask.purpose !== "restore" || (lost += 1) >= 25) return undefined;
    return E.left({ type: "refused", code: 409, reason: "Conflict", message: "it was modified", causes: [] });
  });
  const { at } = later(rollingBack([change("Patch", "a")]), 10 * MINUTE, answer);
  expect(lost).toBe(25);
  expect(at.txn.status.phase).toBe("RolledBack");
});

describe("an item that was not rolled back names its object:", () => {
  it("where that cannot be locked", () => {
    const { answer, done } = server([patched("a")], (ask) =>
      ask.purpose === "lock" ? refused(403, "exceeded quota: leases") : undefined,
    );
    const all = rollingBack([change("Patch", "a")]);
    const { at } = later(observing(all, { 0: { lock: { type: "free" } } }), MINUTE, answer);
    expect(done).toEqual([]);
    expect(errors(at)).toEqual(["ConfigMap shop/a: it cannot be locked: exceeded quota: leases"]);
  });

  it("where its deletion waits for a finalizer until its time is over", () => {
    const { answer } = server([created("a")], (ask) =>
      ask.purpose === "read-target" ? E.right(created("a", "ConfigMap", terminating)) : undefined,
    );
    const { at } = later(rollingBack([change("Create", "a")]), 40 * MINUTE, answer);
    expect(errors(at)).toEqual([
      "ConfigMap shop/a: its rollback timed out: waiting for the finalizers of ConfigMap shop/a: example.com/stuck",
    ]);
  });

  it("where its time is over", () => {
    const { answer } = server([patched("a")], (ask) =>
      ask.purpose === "restore" || ask.purpose === "read-target" ? unavailable("not available") : undefined,
    );
    const { at } = later(rollingBack([change("Patch", "a")]), 40 * MINUTE, answer);
    expect(errors(at)).toEqual([
      "ConfigMap shop/a: its rollback timed out: trying again to read ConfigMap shop/a: not available",
    ]);
  });
});
