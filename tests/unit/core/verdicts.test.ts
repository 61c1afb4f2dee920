import { type Change, fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import {
  allowed,
  type Answer,
  change,
  checkpoints,
  former,
  later,
  observing,
  observingAll,
  refused,
  underway,
} from "./underway.ts";
import { asObject, type KubeObject } from "@janus/types";

const MINUTE = 60_000;
const manager = fieldManager({ name: "deploy-v2", uid: UID });
const marked = { managedFields: [{ manager, operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } }] } as const;
const terminating = { deletionTimestamp: "2026-01-01T12:00:00Z", finalizers: ["example.com/stuck"] };

const rollingBack = (changes: readonly Change[], before: Record<number, KubeObject> = {}): ReconcileContext => {
  const at = underway("RollingBack", changes, {
    direction: "back",
    cursor: changes.length - 1,
    reached: changes.length,
    since: NOW,
  });
  return observingAll(at, (_, index, former) => ({ before: before[index] ?? former.before }));
};

/** A small API server: uids, versions, no defaulting. */
const server = (
  there: readonly KubeObject[],
  tick: (objects: Map<string, KubeObject>, at: ReconcileContext) => void = () => {},
  odd: (ask: ApiCall, at: ReconcileContext) => Answer | undefined = () => undefined,
) => {
  const objects = new Map(there.map((o) => [o.metadata.name ?? "", o]));
  const checkpoint = checkpoints();
  let rv = 10;
  const log: string[] = [];
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    tick(objects, at);
    if (["checkpoint", "read-journal", "journal"].includes(ask.purpose)) return checkpoint(at, ask);
    if (ask.call.place.resource.kind === "Lease")
      return ask.purpose === "read-lock" ? refused(404) : E.right(former("Lease", ask.call.place.name));
    const strange = odd(ask, at);
    if (strange !== undefined) return strange;
    const { name } = ask.call.place;
    if (ask.purpose === "read-namespace") return E.right(former("Namespace", "shop"));
    if (ask.purpose === "restore" || ask.purpose === "change") {
      rv += 1;
      log.push(`${ask.call.verb} ${name}`);
      if (ask.call.verb === "delete") objects.delete(name);
      else {
        const body = ("body" in ask.call ? ask.call.body : {}) as KubeObject;
        const old = objects.get(name);
        if (ask.call.verb === "create" && old !== undefined)
          return E.left({ type: "refused", code: 409, reason: "AlreadyExists", message: "exists", causes: [] });
        const uid = old?.metadata.uid ?? `new-uid-of-${name}`;
        const { deletionTimestamp } = old?.metadata ?? {};
        objects.set(name, {
          ...body,
          metadata: {
            ...body.metadata,
            uid,
            resourceVersion: `${rv}`,
            ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
          },
        });
      }
    }
    const object = objects.get(name);
    return object === undefined ? refused(404) : E.right(object);
  };
  return { answer, objects };
};
const lease = (name: string, holder: string): KubeObject => ({
  ...former("Lease", name),
  spec: { holderIdentity: holder, leaseDurationSeconds: 60 },
});
const ref = (name: string, uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid });

/** `a` is in; what was to be made of `b` was refused. */
const failed = () => {
  const start = rollingBack([change("Patch", "a"), change("Patch", "b")]);
  const items = start.txn.status.items.map((item, index) =>
    index === 1 && "before" in item.state
      ? { ...item, state: { type: "rejected" as const, before: item.state.before, error: "no" } }
      : item,
  );
  return { ...start, txn: { ...start.txn, status: { ...start.txn.status, items } } };
};

const onRead =
  (name: string, answer: Answer) =>
  ({ purpose, call }: ApiCall): Answer | undefined =>
    purpose === "read-target" && call.place.name === name ? answer : undefined;

describe("a target whose change was never made", () => {
  const a = former("ConfigMap", "a");
  const verdict = (odd?: Parameters<typeof server>[2], there: readonly KubeObject[] = [a]) => {
    const { at } = later(failed(), 60 * MINUTE, server(there, () => {}, odd).answer, "served");
    const { phase, conditions } = at.txn.status;
    return `${phase}: ${conditions.find(({ type }) => type === "Ready")?.message}`;
  };

  it.each([
    [
      "as it was, where it is there",
      undefined,
      [a, former("ConfigMap", "b")],
      "every target is as it was before; rolled",
    ],
    [
      "missing, where it is gone",
      undefined,
      [a],
      "rolled back, except for changes[1]: ConfigMap shop/b is gone, although its change was",
    ],
    [
      "going, where another client is deleting it",
      undefined,
      [a, former("ConfigMap", "b", { metadata: terminating })],
      "rolled back, except for changes[1]: ConfigMap shop/b is being deleted by another client, delayed by its finalizers",
    ],
    [
      "unknown, where it may not be read",
      onRead("b", refused(403)),
      [a],
      "rolled back, except for changes[1]: it is unknown whether ConfigMap shop/b is there",
    ],
    [
      "unknown, where it is never answered",
      onRead("b", refused(503)),
      [a],
      "rolled back, except for changes[1]: it is unknown whether ConfigMap shop/b is there",
    ],
  ] as const)("is said to be %s", (_, odd, there, message) => {
    const expected = `RolledBack: ${message}`;
    expect(verdict(odd, there).slice(0, expected.length)).toBe(expected);
  });
});

describe("an owner that was set aside", () => {
  for (const first of ["Delete", "Patch"] as const)
    it(`is owner again of what is restored before it (${first})`, () => {
      const owners = first === "Delete" ? [ref("o", "uid-of-o")] : [ref("o", "uid-of-o"), ref("p", "uid-of-p")];
      const d = former("ConfigMap", "d", { data: { a: "old" }, metadata: { ownerReferences: owners } });
      const o = former("ConfigMap", "o", { metadata: terminating });
      const patched: KubeObject = {
        ...d,
        data: { a: "new" },
        metadata: { ...d.metadata, ...marked, resourceVersion: "2" },
      };
      const { answer, objects } = server(first === "Delete" ? [o] : [o, patched], (objects, { now }) => {
        if (now > NOW + MINUTE && objects.get("o")?.metadata.uid === "uid-of-o") objects.delete("o");
      });
      const changes = [change(first, "d"), change("Delete", "o")];
      const { at } = later(rollingBack(changes, { 0: d }), 60 * MINUTE, answer);
      expect(at.txn.status.phase).toBe("RolledBack");
      expect((objects.get("d")?.metadata.ownerReferences ?? []).map(({ uid }) => uid)).toContain("new-uid-of-o");
    });
});

it("is owner again where it came back only with a later attempt", () => {
  const d = former("ConfigMap", "d", {
    data: { a: "old" },
    metadata: { ownerReferences: [ref("o", "uid-of-o"), ref("p", "uid-of-p")] },
  });
  const patched: KubeObject = {
    ...d,
    data: { a: "new" },
    metadata: { ...d.metadata, ...marked, resourceVersion: "2" },
  };
  const { answer, objects } = server(
    [former("ConfigMap", "o", { metadata: terminating }), patched],
    (objects, { now }) => {
      if (now > NOW + 30 * MINUTE && objects.get("o")?.metadata.uid === "uid-of-o") objects.delete("o");
    },
  );
  const start = rollingBack([change("Patch", "d"), change("Delete", "o")], { 0: d });
  later(start, 900 * MINUTE, answer, "served");
  expect((objects.get("d")?.metadata.ownerReferences ?? []).map(({ uid }) => uid)).toContain("new-uid-of-o");
});

it("does not call a target restored that another client is deleting", () => {
  const a = former("ConfigMap", "a", { data: { a: "old" } });
  const live: KubeObject = {
    ...a,
    data: { a: "new" },
    metadata: { ...a.metadata, ...marked, ...terminating, resourceVersion: "2" },
  };
  const { answer } = server([live]);
  const { at } = later(
    rollingBack([change("Patch", "a"), change("Create", "b")], {
      0: { ...a, metadata: { ...a.metadata, finalizers: terminating.finalizers } },
    }),
    5 * MINUTE,
    answer,
    "served",
  );
  expect(at.txn.status.phase).toBe("Failed");
});

it("leaves an edit with an unknown outcome alone in automatic retries", () => {
  const before = former("ConfigMap", "a", {
    data: { a: "old", b: "old" },
    metadata: {
      managedFields: [
        { manager: "kubectl", operation: "Update", apiVersion: "v1", fieldsV1: { "f:data": { "f:a": {}, "f:b": {} } } },
      ],
    },
  });
  // Another client has written b since, and cleared managedFields. Ours was never made.
  const live: KubeObject = {
    ...before,
    data: { a: "theirs", b: "theirs" },
    metadata: { ...before.metadata, managedFields: [], resourceVersion: "2" },
  };
  const { answer, objects } = server([live]);
  const start = observing(underway("Committing", [change("Patch", "a")], { direction: "forward", cursor: 0 }), {
    0: { before, forward: { write: { type: "unanswered", sent: NOW } } },
  });
  const first = later(start, 20_000, answer, "served");
  later(first.at, 600 * MINUTE, answer, "served");
  expect(asObject(objects.get("a")?.["data"])).toEqual({ a: "theirs", b: "theirs" });
});

it("does not call an edit with an unknown outcome restored in a later attempt", () => {
  const before = former("ConfigMap", "a", {
    data: { a: "old", b: "old" },
    metadata: {
      managedFields: [
        { manager: "kubectl", operation: "Update", apiVersion: "v1", fieldsV1: { "f:data": { "f:a": {}, "f:b": {} } } },
      ],
    },
  });
  const live: KubeObject = {
    ...before,
    data: { a: "old", b: "theirs" },
    metadata: { ...before.metadata, managedFields: [], resourceVersion: "2" },
  };
  const { answer, objects } = server([live]);
  const start = observing(underway("Committing", [change("Patch", "a")], { direction: "forward", cursor: 0 }), {
    0: { before, forward: { write: { type: "unanswered", sent: NOW } } },
  });
  const first = later(start, 5000, answer, "served");
  later(first.at, 600 * MINUTE, answer, "served");
  expect(asObject(objects.get("a")?.["data"])).toEqual({ a: "old", b: "theirs" });
});

it("removes no owner because of a Delete that was not applied, though that was not known at first", () => {
  const owners = [ref("o", "uid-of-o"), ref("p", "uid-of-p")];
  const d = former("ConfigMap", "d", { data: { a: "old" }, metadata: { ownerReferences: owners } });
  const o = former("ConfigMap", "o");
  const patched: KubeObject = {
    ...d,
    data: { a: "new" },
    metadata: { ...d.metadata, ...marked, resourceVersion: "2" },
  };
  // The rights are gone for a minute.
  const { answer, objects } = server(
    [o, patched],
    () => {},
    (ask, { now }) =>
      ask.as === "serviceAccount" && now < NOW + MINUTE / 2
        ? E.left({
            type: "refused",
            code: 403,
            reason: "Forbidden",
            message: `configmaps "x" is forbidden: User "system:serviceaccount:shop:deploy-sa" cannot get resource "configmaps"`,
            causes: [],
          })
        : undefined,
  );
  const start = underway("Committing", [change("Patch", "d"), change("Delete", "o")], {
    direction: "forward",
    cursor: 1,
  });
  const first = observing(start, {
    0: { before: d },
    1: { before: o, forward: { write: { type: "unanswered", sent: NOW } } },
  });
  const { at: mid } = later(first, 20_000, answer, "served");
  later(mid, 600 * MINUTE, answer, "served");
  expect(objects.get("d")?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(["uid-of-o", "uid-of-p"]);
});

it("does not give a lock away the moment it has it, however long it has waited for it", () => {
  const other = underway("Preparing", [change("Patch", "a")], { direction: "forward", cursor: 0 }).txn;
  const wanting = { ...other, metadata: { ...other.metadata, name: "other", uid: "u-other" } };
  const start = underway("Preparing", [change("Patch", "a"), change("Patch", "b")], {
    direction: "forward",
    cursor: 0,
  });
  const unlocked = observingAll(start, () => ({
    lock: undefined,
    preflight: { permissions: allowed("patch", "update") },
  }));
  // `b` was free when both were tried, side by side; `a` is another Transaction's for two minutes.
  const at: ReconcileContext = {
    ...start,
    txn: { ...start.txn, spec: { ...start.txn.spec, timeout: 60 * MINUTE } },
    nextWaiter: ({ name }) => (name.endsWith("-a") ? wanting : undefined),
    known: { ...unlocked.known, serviceAccount: "there" },
  };
  const answer = ({ purpose, call, as }: ApiCall, { now }: ReconcileContext): Answer => {
    const { name } = call.place;
    const isTheirs = name.endsWith("-a") && now < NOW + 2 * MINUTE;
    if (purpose === "lock" && call.verb === "create") return isTheirs ? refused(409) : E.right(lease(name, "us"));
    if (purpose === "read-lock")
      return isTheirs
        ? E.right({ ...lease(name, "somebody"), metadata: { ...lease(name, "").metadata, resourceVersion: `${now}` } })
        : refused(404);
    if (purpose === "release-lock") return E.right(lease(name, ""));
    if (as === "serviceAccount") return refused(503);
    return refused(404);
  };
  const { asked } = later(at, 2 * MINUTE + 4000, answer);
  expect(asked.filter(({ purpose, call }) => purpose === "release-lock" && call.place.name.endsWith("-a"))).toEqual([]);
});

it("takes back what it made of an object that another client was deleting already, though it turns back there", () => {
  const before = former("ConfigMap", "a", { data: { a: "old" } });
  const dying: KubeObject = {
    ...before,
    data: { a: "new" },
    metadata: { ...before.metadata, ...marked, ...terminating, resourceVersion: "2" },
  };
  const { answer, objects } = server(
    [dying],
    () => {},
    ({ purpose }) => (purpose === "change" ? E.right(dying) : undefined),
  );
  const start = underway("Committing", [change("Patch", "a")], { direction: "forward", cursor: 0 });
  const { at } = later(observing(start, { 0: { before } }), 5_000, answer, "served");
  expect(objects.get("a")).toMatchObject({ data: { a: "old" } });
  expect(at.txn.status.items[0]?.state).toMatchObject({
    type: "rollback-failed",
    error: expect.stringContaining("the fields that the change set were restored") as string,
  });
});
