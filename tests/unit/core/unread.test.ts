import { type Change, fieldManager, REQUEST_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import {
  type Answer,
  change,
  checkpoints,
  former,
  later,
  observing,
  refused,
  type Story,
  underway,
} from "./underway.ts";
import type { KubeObject } from "@janus/types";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const TIMEOUT = 2 * MINUTE;

const manager = fieldManager({ name: "deploy-v2", uid: UID });
const patched = (name: string): KubeObject =>
  former("ConfigMap", name, {
    data: { a: "new" },
    metadata: { managedFields: [{ manager, operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } }] },
  });

/** The conversion webhook of Widgets is down: the write was answered with a 500, and so is every read. */
const server = (isDown: (ask: ApiCall, at: ReconcileContext) => boolean) => {
  const checkpoint = checkpoints();
  const objects = new Map([patched("a")].map((object) => [object.metadata.name ?? "", object]));
  return (ask: ApiCall, at: ReconcileContext): Answer => {
    if (["checkpoint", "journal", "read-journal"].includes(ask.purpose)) return checkpoint(at, ask);
    if (isDown(ask, at)) return refused(500, "conversion webhook failed: connection refused");
    const { name } = ask.call.place;
    if (ask.purpose === "restore") objects.set(name, former("ConfigMap", name));
    const object = objects.get(name);
    return object === undefined ? refused(404) : E.right(object);
  };
};
const isClaim = ({ call }: ApiCall): boolean => call.place.resource.kind === "PersistentVolumeClaim";
const isOfWidget = ({ call }: ApiCall): boolean => call.place.resource.kind === "Widget";

/** The ConfigMap is patched; whether the Widget is, nobody knows. */
const inDoubt = (second: Change = change("Patch", "w", "Widget")): ReconcileContext => {
  const at = underway("Committing", [change("Patch", "a"), second], { direction: "forward", cursor: 1 });
  return observing(at, {
    0: { before: former("ConfigMap", "a") },
    1: { before: former("Widget", "w"), forward: { write: { type: "unanswered", sent: NOW } } },
  });
};

/** As of another process, which has not discovered Widgets. */
const undiscovered = (at: ReconcileContext): ReconcileContext => {
  const resources = new Map([...at.known.resources].filter(([key]) => !key.includes("Widget")));
  return { ...at, known: { ...at.known, resources } };
};
const takenOver = (): ReconcileContext => undiscovered(inDoubt());

const asking = (at: ReconcileContext, metadata: object, spec: object = {}): ReconcileContext => ({
  ...at,
  txn: { ...at.txn, metadata: { ...at.txn.metadata, ...metadata }, spec: { ...at.txn.spec, ...spec } },
});
const requested = { annotations: { [REQUEST_ROLLBACK]: "now" } };
const deleted = { deletionTimestamp: "2026-01-01T12:00:00Z" };

const states = ({ at }: Story): readonly string[] => at.txn.status.items.map(({ state }) => state.type);
const failed = ({ at }: Story): string => {
  const { phase, conditions } = at.txn.status;
  return `${phase}: ${conditions.find(({ type }) => type === "Failed")?.message}`;
};
const UNREAD = "Widget shop/w cannot be read: conversion webhook failed: connection refused";

describe("a target in doubt that cannot be read does not keep a Transaction from", () => {
  it("its spec.timeout: what is known is rolled back, and the verdict says what is not", () => {
    const answer = server(isOfWidget);
    const before = later(asking(inDoubt(), {}, { timeout: TIMEOUT }), TIMEOUT - SECOND, answer);
    expect(before.at.txn.status.phase).toBe("Committing");
    const story = later(before.at, 8 * SECOND, answer);
    expect(states(story)).toEqual(["restored", "unknown"]);
    expect(failed(story)).toContain(`Failed: rollback incomplete: changes[1]: ${UNREAD}; rolled back because:`);
    expect(failed(story)).toContain("spec.timeout passed with 1 of 2 changes applied");
  });

  it("a requested rollback", () => {
    const story = later(asking(inDoubt(), requested), 20 * SECOND, server(isOfWidget));
    expect(states(story)).toEqual(["restored", "unknown"]);
    expect(failed(story)).toContain(UNREAD);
    expect(failed(story)).toContain("rollback requested by");
  });

  it("its deletion, with Release", () => {
    const story = later(asking(inDoubt(), deleted), 20 * SECOND, server(isOfWidget));
    expect(states(story)).toEqual(["committed", "unknown"]);
    expect(failed(story)).toContain(UNREAD);
    expect(story.at.txn.metadata.finalizers).toEqual([]);
  });

  it("its deletion, with Rollback", () => {
    const start = asking(inDoubt(), deleted, { deletionPolicy: "Rollback" });
    const namespace = former("Namespace", "shop");
    const answer = server(isOfWidget);
    const story = later(start, MINUTE, (ask, at) =>
      ask.purpose === "read-namespace" ? E.right(namespace) : answer(ask, at),
    );
    expect(states(story)).toEqual(["restored", "unknown"]);
    expect(failed(story)).toContain(UNREAD);
  });
});

it("waits for it while nobody wants it to stop, and for a moment then", () => {
  const answer = server((ask, { now }) => isOfWidget(ask) && now < NOW + 5 * MINUTE);
  const waiting = later(inDoubt(), 4 * MINUTE, answer);
  expect(waiting.at.txn.status.phase).toBe("Committing");
  const brief = server((ask, { now }) => isOfWidget(ask) && now < NOW + 5 * SECOND);
  const widget = former("Widget", "w");
  const story = later(asking(inDoubt(), requested), MINUTE, (ask, at) => {
    const reply = brief(ask, at);
    return isOfWidget(ask) && E.isLeft(reply) && at.now >= NOW + 5 * SECOND ? E.right(widget) : reply;
  });
  expect(states(story)).toEqual(["restored", "prepared"]);
  expect(story.at.txn.status.phase).toBe("RolledBack");
});

it("is read again once the API server is back, where that was down as a whole", () => {
  let isBack = false;
  const widget = former("Widget", "w");
  const answer = server(() => !isBack);
  const start = asking(inDoubt(), requested);
  const down = later(
    start,
    2 * MINUTE,
    (ask, at) => (isBack ? answer(ask, at) : refused(503)),
    "served",
    () => !isBack,
  );
  expect(down.at.txn.status.phase).toBe("Committing");
  isBack = true;
  const story = later(down.at, MINUTE, (ask, at) => (isOfWidget(ask) ? E.right(widget) : answer(ask, at)));
  expect(states(story)).toEqual(["restored", "prepared"]);
});

it("is not given up once the deletion of what cannot be created again may have been sent", () => {
  const start = inDoubt(change("Delete", "w", "PersistentVolumeClaim"));
  const story = later(start, 60 * MINUTE, server(isClaim));
  expect(story.at.txn.status.phase).toBe("Committing");
  const gone = later(asking(story.at, deleted), MINUTE, server(isClaim));
  expect(states(gone)).toEqual(["committed", "unknown"]);
});

describe("a kind that cannot be discovered after a takeover does not keep a Transaction from", () => {
  const message = "Widget w cannot be read: Widget in v1 cannot be discovered: the server is currently unable to";

  it("its spec.timeout", () => {
    const answer = server(isOfWidget);
    const before = later(asking(takenOver(), {}, { timeout: TIMEOUT }), TIMEOUT - SECOND, answer, "down");
    expect(before.at.txn.status.phase).toBe("Committing");
    const story = later(before.at, 8 * SECOND, answer, "down");
    expect(states(story)).toEqual(["restored", "unknown"]);
    expect(failed(story)).toContain(message);
  });

  it("a requested rollback, or its deletion", () => {
    const story = later(asking(takenOver(), requested), 20 * SECOND, server(isOfWidget), "down");
    expect(states(story)).toEqual(["restored", "unknown"]);
    const released = later(asking(takenOver(), deleted), 20 * SECOND, server(isOfWidget), "down");
    expect(states(released)).toEqual(["committed", "unknown"]);
    expect(released.at.txn.metadata.finalizers).toEqual([]);
  });

  it("finding out about another one", () => {
    const at = underway("Committing", [change("Patch", "a"), change("Patch", "w", "Widget")], {
      direction: "forward",
      cursor: 0,
    });
    const start = observing(undiscovered(at), { 0: { forward: { write: { type: "unanswered", sent: NOW } } } });
    const story = later(asking(start, requested), 20 * SECOND, server(isOfWidget), "down");
    expect(story.asked.filter(({ purpose }) => purpose === "change")).toEqual([]);
    expect(states(story)).toEqual(["restored", "prepared"]);
    expect(story.at.txn.status.phase).toBe("RolledBack");
  });

  it("its end, where it was deleted within its rollbackWindow", () => {
    const at = underway("Committed", [change("Patch", "w", "Widget")], { direction: "forward", cursor: 1 });
    const { metadata, spec, status } = at.txn;
    const start = asking(
      { ...at, txn: { metadata, spec, status: { ...status, reversibleUntil: "2027-01-01T00:00:00Z" } } },
      deleted,
    );
    const story = later(undiscovered(start), MINUTE, () => refused(404), "down");
    expect(story.at.txn.metadata.finalizers).toEqual([]);
  });

  it("its end, where its lock is not recorded", () => {
    const at = underway("Failed", [change("Patch", "w", "Widget")], { direction: "forward", cursor: 0 });
    const items = at.txn.status.items.map(({ state }) => ({ state }));
    const start = asking({ ...at, txn: { ...at.txn, status: { ...at.txn.status, items } } }, deleted);
    const story = later(undiscovered(start), MINUTE, () => refused(404), "down");
    expect(story.at.txn.metadata.finalizers).toEqual([]);
  });
});
