import { fieldManager, type ResolvedChange, UID_LABEL } from "@janus/api";
import type { JsonObject, KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { digestOfStore } from "../../../packages/controller/src/core/snapshots/snapshot-data.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { Journal } from "../../../packages/controller/src/core/state/journal.ts";
import {
  changeIn,
  type Observations,
  rollbackIn,
  journalIn,
} from "../../../packages/controller/src/core/state/observations.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import type { RollbackObservations } from "../../../packages/controller/src/core/state/rollback-observations.ts";
import type { UndoStep } from "../../../packages/controller/src/core/undo/undo-context.ts";
import { undoDelete } from "../../../packages/controller/src/core/undo/undo-delete.ts";
import { undoEdit } from "../../../packages/controller/src/core/undo/undo-edit.ts";
import { NOW } from "./arbitrary-situation.ts";
import { learn } from "./learn.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, former, observing, refused, seen, underway } from "./underway.ts";

const TAKEN = refused(422, 'Service "web" is invalid: spec.ports[0].nodePort: provided port is already allocated');

const place = (kind: string, name: string) => ({
  resource: {
    group: "",
    version: "v1",
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: true,
    statusSubresource: false,
  },
  namespace: "shop",
  name,
});

const back = (changes: readonly ResolvedChange[], reached = changes.length): ReconcileContext =>
  underway("RollingBack", changes, { direction: "back", cursor: 0, reached, since: NOW });

const journalOf = ({ known }: ReconcileContext): Journal => {
  const journal = journalIn(known);
  if (journal === undefined) throw new Error("there is no journal");
  return journal;
};

const onlyRequest = (step: UndoStep): ApiCall => {
  const [effect] = step.type === "run" ? step.effects : [];
  if (effect === undefined || !("call" in effect)) throw new Error(`it sends nothing: ${JSON.stringify(step)}`);
  return effect;
};

const service = (nodePort: number, replicas: number, more: JsonObject = {}): JsonObject => ({
  spec: { ports: [{ port: 80, ...(nodePort === 0 ? {} : { nodePort }) }], replicas, ...more },
});

describe("a write that restores the fields of a target", () => {
  const edit: ResolvedChange = {
    type: "Patch",
    target: { apiVersion: "v1", kind: "Service", name: "web" },
    content: { spec: { replicas: 2 } },
  };
  const before = former("Service", "web", service(30080, 1, { goneAlong: true }));
  const live: KubeObject = {
    ...before,
    ...service(30080, 2),
    metadata: {
      ...before.metadata,
      resourceVersion: "2",
      managedFields: [
        {
          manager: fieldManager({ name: "deploy-v2", uid: UID }),
          operation: "Apply",
          apiVersion: "v1",
          fieldsV1: { "f:spec": { "f:replicas": {} } },
        },
      ],
    },
  };

  /** What is known of its rollback after this answer to its next PUT. */
  const after = (answer: Answer, rollback: RollbackObservations = {}): Observations => {
    const context = observing(back([edit]), { 0: { target: seen(live), rollback } });
    const step = undoEdit(
      {
        index: 0,
        change: edit,
        place: place("Service", "web"),
        context,
        journal: journalOf(context),
        seen: seen(live),
      },
      before,
    );
    return learn(context, onlyRequest(step), answer, NOW + 7, NOW + 5);
  };

  it("counts when it was accepted, and the target is as it was answered", () => {
    const restored = { ...before, metadata: { ...before.metadata, resourceVersion: "3" } };
    const known = after(E.right(restored), { puts: 4 });
    expect(changeIn(known, 0)).toMatchObject({
      target: { type: "read", object: restored, at: NOW + 5 },
      rollback: { puts: 5, goalAt: NOW + 5, goal: { spec: { replicas: 1 } } },
    });
  });

  it("does not count when another client was faster: the target is read again", () => {
    const known = after(refused(409), { puts: 4 });
    expect(changeIn(known, 0)).toMatchObject({
      target: undefined,
      unchangedConflict: { at: NOW + 7, resourceVersion: "2" },
      rollback: { puts: 4 },
    });
  });

  it("is sent without a port that another Service has, but ends where that does not help", () => {
    const known = rollbackIn(after(TAKEN), 0);
    expect(known).toEqual({
      taken: ["ports"],
      goal: expect.objectContaining(service(0, 1, { goneAlong: true })) as unknown,
    });
    expect(rollbackIn(after(TAKEN, { ...known, yieldsToOthers: true }), 0).refusal?.why).toMatch(
      /^Service shop\/web: /u,
    );
  });

  it("leaves to others what they have set if it is invalid beside that, once", () => {
    const invalid = refused(422, "spec.goneAlong: Forbidden");
    expect(rollbackIn(after(invalid), 0)).toEqual({ yieldsToOthers: true });
    expect(rollbackIn(after(invalid, { yieldsToOthers: true }), 0).refusal?.at).toBe(NOW + 7);
    expect(rollbackIn(after(refused(403)), 0).refusal?.at).toBe(NOW + 7);
  });
});

describe("a write that creates a target again", () => {
  const before = former("Service", "web", service(30080, 1));
  const removal = change("Delete", "web", "Service");

  const after = (answer: Answer, rollback: RollbackObservations = {}): Observations => {
    const context = observing(back([removal]), { 0: { target: seen(undefined), rollback } });
    const step = undoDelete(
      {
        index: 0,
        change: removal,
        place: place("Service", "web"),
        context,
        journal: journalOf(context),
        seen: seen(undefined),
      },
      before,
    );
    return learn(context, onlyRequest(step), answer);
  };

  it("is sent without a port that another Service has, but ends where that does not help", () => {
    const known = after(TAKEN);
    expect(rollbackIn(known, 0)).toEqual({ taken: ["ports"] });
    expect(changeIn(known, 0).target?.type).toBe("absent");
    expect(rollbackIn(after(TAKEN, { taken: ["ports"] }), 0).refusal?.why).toMatch(/^Service shop\/web: /u);
  });

  it("is remembered with what the API server has made of it", () => {
    const created = { ...before, metadata: { ...before.metadata, uid: "uid-2" }, ...service(31000, 1) };
    expect(changeIn(after(E.right(created)), 0)).toMatchObject({
      target: { object: created },
      rollback: { goal: service(31000, 1) },
    });
  });
});

describe("a request for a dependent of an object that was created again", () => {
  const owner = former("ConfigMap", "owner");
  const again: KubeObject = { ...owner, metadata: { ...owner.metadata, uid: "uid-2", resourceVersion: "2" } };
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "uid-of-owner" }];
  const dependent = former("ConfigMap", "dependent", { metadata: { name: "dependent", ownerReferences } });
  const removal = change("Delete", "owner");

  /** The request, and the rollback of the owner that it is sent in. */
  const asked = (context: ReconcileContext): readonly [ApiCall, ReconcileContext] => {
    const journal: Journal = { ...journalOf(context), created: new Map([[0, "uid-2"]]) };
    const at = { ...context, known: { ...context.known, journal: { type: "read", journal } as const } };
    const undone = {
      index: 0,
      change: removal,
      place: place("ConfigMap", "owner"),
      context: at,
      journal,
      seen: seen(again),
    };
    return [onlyRequest(undoDelete(undone, owner)), at];
  };
  const itsOwn = { why: "its own", at: NOW - 1 };

  it.each([
    ["a PUT", change("Patch", "dependent"), 2, dependent],
    ["a POST, of one that was deleted with it", change("Delete", "dependent"), 1, undefined],
    ["a read", change("Patch", "dependent"), 2, "unread"],
  ] as const)("ends the rollback of the owner if it is rejected: %s", (_, edit, reached, live) => {
    const target = live === "unread" ? undefined : seen(live);
    const context = observing(back([removal, edit], reached), {
      0: { target: seen(again) },
      1: { target, before: dependent, rollback: { refusal: itsOwn } },
    });
    const [request, at] = asked(context);
    expect(request.item).toBe(1);
    const known = learn(at, request, refused(403));
    expect(rollbackIn(known, 0).refusal).toEqual({
      why: `ConfigMap shop/${live === "unread" ? "owner" : "dependent"}: the API server refuses to roll it back: no`,
      at: NOW,
    });
    expect(rollbackIn(known, 1).refusal).toEqual(itsOwn);
  });

  it.each([
    ["goes from memory at once if it is of another owner, and memory is short", "uid-of-another", 2 ** 21, false],
    ["stays if there is room for it", "uid-of-another", 1, true],
    ["stays if it names the owner", "uid-of-owner", 2 ** 21, true],
  ])("a snapshot that is read for it %s", (_, uid, size, stays) => {
    const text = JSON.stringify({
      ...dependent,
      metadata: { ...dependent.metadata, ownerReferences: [{ ...ownerReferences[0], uid }] },
    });
    const data = new Map([["item-1-1", text]]);
    const store = {
      kind: "ConfigMap",
      name: "deploy-v2-rollback",
      uid: "uid-of-store",
      digest: digestOfStore(data),
    } as const;
    const context = back([removal, change("Patch", "dependent")]);
    const { status } = context.txn;
    const { state = { type: "untouched" as const } } = status.items[1] ?? {};
    if (state.type !== "prepared" || !state.before.existed) throw new Error(`it is ${state.type}`);
    const snapshot = { store: store.name, key: "item-1-1" };
    const items = status.items.map((item, index) =>
      index === 1 ? { ...item, state: { ...state, before: { ...state.before, snapshot } } } : item,
    );
    const [request, at] = asked(
      observing(
        {
          ...context,
          txn: { ...context.txn, status: { ...status, items, snapshots: [store] } },
          known: {
            ...context.known,
            storeData: new Map([["ConfigMap/other", { type: "data", data: new Map([["a", "x".repeat(size)]]) }]]),
          },
        },
        { 0: { target: seen(again) }, 1: { before: undefined } },
      ),
    );
    const known = learn(
      at,
      request,
      E.right({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: store.name, namespace: "shop", uid: store.uid, labels: { [UID_LABEL]: UID } },
        data: Object.fromEntries(data),
      }),
    );
    expect(changeIn(known, 1).ownersBefore).toEqual([uid]);
    expect([...known.storeData.keys()]).toEqual([
      "ConfigMap/other",
      ...(stays ? ["ConfigMap/deploy-v2-rollback"] : []),
    ]);
  });
});
