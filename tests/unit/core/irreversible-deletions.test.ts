import { type Change, REQUEST_ROLLBACK } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { type Answer, change, checkpoints, former, later, observing, refused, underway } from "./underway.ts";

const MINUTE = 60_000;
const terminating = { deletionTimestamp: "2026-01-01T12:00:00Z", finalizers: ["kubernetes"] };

const VERSIONS = {
  Namespace: "v1",
  CustomResourceDefinition: "apiextensions.k8s.io/v1",
  PersistentVolume: "v1",
  PersistentVolumeClaim: "v1",
  VolumeSnapshot: "snapshot.storage.k8s.io/v1",
  VolumeSnapshotContent: "snapshot.storage.k8s.io/v1",
  VolumeGroupSnapshot: "groupsnapshot.storage.k8s.io/v1beta2",
  VolumeGroupSnapshotContent: "groupsnapshot.storage.k8s.io/v1beta2",
} as const;
type Kind = keyof typeof VERSIONS;
const KINDS = Object.keys(VERSIONS) as readonly Kind[];

const CONTENTS: Partial<Record<Kind, string>> = {
  Namespace: "all objects in it (no list of them was kept)",
  CustomResourceDefinition: "all objects of its kind (no list of them was kept)",
};

const deletion = (kind: Kind, name: string): Change => ({
  type: "Delete",
  target: { apiVersion: VERSIONS[kind], kind, name },
});

/** The first change is in, and the Delete of `x` was accepted: it goes at `gone`. */
const accepted = (kind: Kind, gone: number, also: readonly Change[] = []) => {
  const changes = [change("Patch", "a"), deletion(kind, "x"), ...also];
  const start = observing(underway("Committing", changes, { direction: "forward", cursor: 1 }), {
    1: { forward: { write: { type: "accepted", sent: NOW } } },
  });
  const checkpoint = checkpoints();
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    if (ask.purpose === "read-target" && ask.call.place.name === "x" && at.now < gone)
      return E.right(former(kind, "x", { metadata: terminating }));
    if (ask.purpose === "read-namespace") return E.right(former("Namespace", "shop"));
    return refused(404);
  };
  return { start, answer };
};

const wants = (at: ReconcileContext, metadata: object, spec: object = {}): ReconcileContext => ({
  ...at,
  txn: { ...at.txn, metadata: { ...at.txn.metadata, ...metadata }, spec: { ...at.txn.spec, ...spec } },
});

describe.each(KINDS)("once the deletion of a %s may have been sent, a Transaction only goes forward:", (kind) => {
  it("when spec.timeout passes, which it says", () => {
    const { start, answer } = accepted(kind, NOW + 90 * MINUTE);
    const waiting = later(start, 60 * MINUTE, answer);
    expect(waiting.at.txn.status.phase).toBe("Committing");
    expect(JSON.stringify(waiting.at.txn.status.conditions)).toContain("cannot be undone");
    expect(later(waiting.at, 60 * MINUTE, answer).at.txn.status.phase).toBe("Committed");
  });

  it("when its waitTimeout passes, which ends no wait for a Delete", () => {
    const { start, answer } = accepted(kind, NOW + 90 * MINUTE);
    const changes = start.txn.spec.changes.map((one) => ({ ...one, waitFor: ["delete"], waitTimeout: MINUTE }));
    const waiting = later(wants(start, {}, { changes }), 60 * MINUTE, answer);
    expect(waiting.at.txn.status.phase).toBe("Committing");
    expect(later(waiting.at, 60 * MINUTE, answer).at.txn.status.phase).toBe("Committed");
  });

  it("when a rollback is requested, which it says", () => {
    const { start, answer } = accepted(kind, NOW + 5 * MINUTE);
    const asked = wants(start, { annotations: { [REQUEST_ROLLBACK]: "" } });
    const { at } = later(asked, 20 * MINUTE, answer);
    expect(at.txn.status.phase).toBe("Committed");
    expect(JSON.stringify(at.txn.status.conditions)).toContain("cannot be undone");
  });

  it("when it is deleted with deletionPolicy Rollback: it is released", () => {
    const { start, answer } = accepted(kind, NOW + 90 * MINUTE);
    const deleted = wants(start, { deletionTimestamp: "2026-01-01T12:00:00Z" }, { deletionPolicy: "Rollback" });
    const { at } = later(deleted, MINUTE, answer);
    expect(at.txn.status.phase).toBe("Failed");
    expect(JSON.stringify(at.txn.status.conditions)).toContain("cannot be undone");
    expect(at.txn.status.items.map(({ state }) => state.type)).toEqual(["committed", "committed"]);
  });

  it("and where the next one fails, what was deleted counts as not rolled back, and is not created again", () => {
    const { start, answer } = accepted(kind, NOW, [deletion(kind, "y")]);
    const refuses = (ask: ApiCall, at: ReconcileContext): Answer => {
      if (ask.purpose === "change")
        return E.left({ type: "refused", code: 403, reason: "Forbidden", message: "no", causes: [] });
      if (ask.purpose === "read-target" && ask.call.place.name !== "x")
        return E.right(former(ask.call.place.resource.kind, ask.call.place.name));
      return answer(ask, at);
    };
    const { at, asked } = later(start, 5 * MINUTE, refuses);
    expect(at.txn.status.phase).toBe("Failed");
    expect(at.txn.status.items.map(({ state }) => state.type)).toEqual(["restored", "rollback-failed", "rejected"]);
    expect(asked.filter(({ call }) => call.verb === "create" && call.place.name === "x")).toEqual([]);
    expect(JSON.stringify(at.txn.status.items[1])).toContain(
      `${kind} shop/x was deleted, which cannot be undone, and with it ${CONTENTS[kind] ?? "its data"}`,
    );
  });
});

it("only goes forward once a Delete may have been sent that was found to delete a volume, too", () => {
  const owner: Change = { type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "owner" } };
  const start = underway("Committing", [change("Patch", "a"), owner], { direction: "forward", cursor: 1 });
  const { txn } = start;
  const items = txn.status.items.map((item, index) =>
    index === 1 && item.state.type === "prepared" && item.state.before.existed
      ? { ...item, state: { ...item.state, before: { ...item.state.before, isIrreversible: true as const } } }
      : item,
  );
  const sent = observing(
    { ...start, txn: { ...txn, status: { ...txn.status, items } } },
    {
      1: { forward: { write: { type: "accepted", sent: NOW } } },
    },
  );
  const asked = wants(sent, { annotations: { [REQUEST_ROLLBACK]: "" } });
  const checkpoint = checkpoints();
  const { at } = later(asked, MINUTE, (ask, at) => (ask.purpose === "checkpoint" ? checkpoint(at, ask) : refused(404)));
  expect(at.txn.status.phase).toBe("Committed");
  expect(JSON.stringify(at.txn.status.conditions)).toContain("the deletion of ConfigMap owner cannot be undone");
});

it("rolls back before the deletion that cannot be undone was sent", () => {
  const changes = [change("Patch", "a"), deletion("PersistentVolumeClaim", "x")];
  const start = underway("Committing", changes, { direction: "forward", cursor: 1 });
  const asked = wants(start, { annotations: { [REQUEST_ROLLBACK]: "" } });
  const checkpoint = checkpoints();
  const { at } = later(asked, MINUTE, (ask, at) => {
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    const { resource, name } = ask.call.place;
    return ask.purpose === "read-target" ? E.right(former(resource.kind, name)) : refused(404);
  });
  expect(at.txn.status.phase).toBe("RolledBack");
});
