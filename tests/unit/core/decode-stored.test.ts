import { decodeTransaction, FINALIZER, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { awaitMemory } from "../../../packages/controller/src/core/state/idle-memory.ts";
import { decide, decideUnread } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall, Effect, Step } from "../../../packages/controller/src/core/state/effect.ts";
import { mapChanges, noObservations, journalIn } from "../../../packages/controller/src/core/state/observations.ts";
import { quarantine } from "../../../packages/controller/src/core/transitions/quarantine.ts";
import { decodeStored, decodeBestEffort } from "../../../packages/controller/src/core/state/decode-stored.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { arbitraryFault, arbitraryObject } from "./arbitrary-answer.ts";
import { arbitraryJson } from "./arbitrary-json.ts";
import { arbitrarySituation, NOW, settings } from "./arbitrary-situation.ts";
import { transaction } from "./transaction.ts";
import type { KubeObject } from "@janus/types";
import { learn } from "./learn.ts";

const changes = [
  { type: "Patch", target: { apiVersion: "v1", kind: "ConfigMap", name: "a" }, content: { data: { a: "1" } } },
  { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "b" }, content: {} },
] as const;
const stored = (
  status: unknown,
  metadata: object = {},
  spec: unknown = { serviceAccountName: "deploy-sa", changes },
): KubeObject => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { ...transaction(changes).metadata, ...metadata },
  spec,
  status,
});

const before = { uid: "1", resourceVersion: "1", snapshot: { store: "deploy-v2-rollback", key: "item-0-1" } };
const prepared = [{ prepared: true, ...before }, { prepared: true }];
const whole = {
  phase: "Committing",
  version: 4,
  items: prepared,
  snapshots: [{ kind: "ConfigMap", name: "deploy-v2-rollback", uid: "7", digest: "sha256:0" }],
  journal: { name: "janus-journal-1", uid: "2" },
  conditions: [{ type: "Ready", status: "False", reason: "Because", message: "", lastTransitionTime: "" }],
};

/** A whole status with some of its values, at any depth, replaced by any JSON, or taken out. */
const damaged: fc.Arbitrary<unknown> = fc
  .tuple(fc.array(fc.tuple(fc.array(fc.nat({ max: 9 }), { maxLength: 4 }), fc.option(arbitraryJson)), { maxLength: 3 }))
  .map(([strokes]) => {
    const status = structuredClone(whole) as Record<string, unknown>;
    for (const [path, value] of strokes) {
      let at = status;
      let key = Object.keys(at)[0] ?? "phase";
      for (const step of path) {
        const keys = Object.keys(at);
        key = keys[step % Math.max(1, keys.length)] ?? "x";
        const inner = at[key];
        if (typeof inner !== "object" || inner === null) break;
        at = inner as Record<string, unknown>;
        key = Object.keys(at)[0] ?? "x";
      }
      if (value === null) Reflect.deleteProperty(at, key);
      else at[key] = value;
    }
    return status;
  });

const context = (txn: ReconcileContext["txn"]): ReconcileContext => ({
  txn,
  known: noObservations(NOW),
  now: NOW,
  settings,
  queuedBefore: () => undefined,
  nextWaiter: () => undefined,
});

const stepOf = (object: KubeObject): Step => {
  const read = decodeStored(object);
  return E.isRight(read) ? decide(context(read.right)) : decideUnread(context(decodeBestEffort(object)), read.left);
};

const isHarmless = (effect: Effect): boolean => {
  if (!("call" in effect)) return false;
  const { call, purpose } = effect;
  if (call.verb === "get") return ["read-store", "read-lock", "read-journal"].includes(purpose);
  if (call.verb === "delete") return purpose === "release-lock";
  return call.verb === "mergePatch";
};

const isActive = (step: Step, deleted: boolean): boolean =>
  step.type === "run" &&
  step.effects.length > 0 &&
  step.effects.every(isHarmless) &&
  (deleted || (step.events ?? []).length === 1);

/** It complains, or asks whether its namespace goes; or it waits, and says so. */
const isPatient = (step: Step): boolean =>
  step.type === "run"
    ? step.effects.every(({ purpose }) => purpose === "report-unreadable" || purpose === "read-namespace")
    : step.type === "wait" && (step.events ?? []).length === 1;

describe("any status whatever", () => {
  it.each([
    ["any JSON", arbitraryJson],
    ["a damaged one", damaged],
  ])("is read, or its fault told, and leads to a step that makes sense: %s", (_, status) => {
    fc.assert(
      fc.property(status, fc.boolean(), (status, deleted) => {
        const object = stored(status, {
          finalizers: [FINALIZER],
          ...(deleted ? { deletionTimestamp: "2026-01-01T12:00:00Z" } : {}),
        });
        const step = stepOf(object);
        const read = decodeStored(object);
        if (E.isRight(read)) return;
        // Unreadable: never mute, never idle in deletion, and nothing is touched.
        expect(read.left.type === "unsupported" ? isPatient(step) : isActive(step, deleted)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("of an object that is no Transaction at all is told, too", () => {
    fc.assert(
      fc.property(arbitraryJson, arbitraryJson, (spec, status) => {
        const object = stored(status, {}, spec);
        const read = decodeStored(object);
        if (E.isRight(read)) throw new Error("it is read");
        const step = stepOf(object);
        expect(read.left.type === "unsupported" ? isPatient(step) : step.type === "run").toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("never keeps the deletion from coming to its end, whatever is answered", () => {
    const answer = fc.oneof(
      { weight: 3, arbitrary: arbitraryObject.map((one) => E.right(one)) },
      { weight: 1, arbitrary: arbitraryFault.map((one) => E.left(one)) },
    );
    const gone = E.left({
      type: "refused",
      code: 404,
      reason: "NotFound",
      message: "",
      causes: [],
      notFound: "object",
    } as const);
    fc.assert(
      fc.property(damaged, fc.array(answer, { maxLength: 10 }), (status, answers) => {
        const object = stored(status, { finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T12:00:00Z" });
        fc.pre(E.isLeft(decodeStored(object)));
        let at = context(decodeBestEffort(object));
        const left = answers.values();
        const asked: string[] = [];
        while (asked.at(-1) !== "finalizer" && asked.length < 100) {
          const step = quarantine(at, "of its fault");
          if (step.type !== "run") break;
          for (const effect of step.effects as readonly ApiCall[]) {
            asked.push(effect.purpose);
            const reply = left.next();
            at = { ...at, known: learn(at, effect, reply.done ? gone : reply.value) };
          }
        }
        expect(asked.at(-1)).toBe("finalizer");
      }),
      { numRuns: 200 },
    );
  });
});

it("is told once, and again only when it is another fault", () => {
  const object = stored({ ...whole, items: [] });
  const at = context(decodeBestEffort(object));
  const step = quarantine(at, "status.items: has 0 entries for 2 changes");
  if (step.type !== "run") throw new Error("nothing is told");
  const [complaint] = step.effects as readonly ApiCall[];
  if (complaint?.call.verb !== "mergePatch") throw new Error("nothing is told");
  const { status } = complaint.call.body as { readonly status: { readonly conditions: readonly object[] } };
  expect(Object.keys(status)).toEqual(["conditions"]);
  const again = context(decodeBestEffort(stored({ ...whole, ...status, items: [] })));
  expect(quarantine(again, "status.items: has 0 entries for 2 changes")).toEqual({ type: "done" });
  expect(quarantine(again, "status.phase: must be one of …").type).toBe("run");
  // Not even where the API server refuses to take it.
  const refused = E.left({ type: "refused", code: 422, reason: "Invalid", message: "", causes: [] } as const);
  const known = learn(at, complaint, refused);
  expect(quarantine({ ...at, known }, "status.items: has 0 entries for 2 changes")).toEqual({ type: "done" });
});

describe("what no controller ever writes", () => {
  it.each([
    [
      "fewer items than changes",
      { ...whole, items: prepared.slice(0, 1) },
      "status.items: has 1 entries for 2 changes",
    ],
    [
      "a change under way that was not prepared",
      { ...whole, items: [{}, ...prepared.slice(1)] },
      "status.items[0]: is not prepared in phase Committing",
    ],
    [
      "a Patch without a snapshot",
      { ...whole, items: [{ prepared: true }, { prepared: true }] },
      "status.items[0]: its snapshot is missing",
    ],
    [
      "a Create with a snapshot",
      { ...whole, items: [prepared[0], prepared[0]] },
      "status.items[1]: a Create has no snapshot",
    ],
  ])("is not read: %s", (_, status, why) => {
    expect(E.isRight(decodeTransaction(stored(status)))).toBe(true);
    expect(decodeStored(stored(status))).toEqual(E.left({ type: "unreadable", why }));
  });

  it("is told from what it does write", () => {
    for (const phase of ["Prepared", "Committing", "RollingBack", "Committed", "RolledBack", "Failed"])
      expect(E.isRight(decodeStored(stored({ ...whole, phase })))).toBe(true);
    expect(E.isRight(decodeStored(stored({ phase: "Preparing", items: [{}, {}] })))).toBe(true);
    expect(E.isRight(decodeStored(stored({ phase: "Failed", items: [{ error: "no" }, {}] })))).toBe(true);
    expect(E.isRight(decodeStored(stored({ phase: "Pending" })))).toBe(true);
    expect(E.isRight(decodeStored(stored(undefined)))).toBe(true);
  });
});

/** As the preflight leaves it: nothing is where something is created, and something is where it is changed. */
const sensible = (at: ReconcileContext): ReconcileContext => {
  const { txn, known } = at;
  const isFit = (index: number, exists: boolean): boolean => exists === (txn.spec.changes[index]?.type !== "Create");
  const journal = journalIn(known);
  const renewed = new Map([...(journal?.renewed ?? [])].filter(([index]) => isFit(index, true)));
  return {
    ...at,
    known: {
      ...mapChanges(known, ({ target, ...observed }, index) =>
        target !== undefined && isFit(index, target.object !== undefined) ? { ...observed, target } : observed,
      ),
      ...(journal === undefined ? {} : { journal: { type: "read", journal: { ...journal, renewed } } }),
    },
  };
};

it.each<readonly [string, (at: ReconcileContext) => Step]>([
  ["when it decides", decide],
  [
    "when it waits for memory",
    (at) => awaitMemory({ ...at, known: { ...at.known, statusWritten: { sent: 0, answered: 0 } } }),
  ],
])("is whatever the core itself writes, as long as it was before: %s", (_, stepOf) => {
  fc.assert(
    fc.property(arbitrarySituation.map(sensible), (at) => {
      const written = Transaction.encode(at.txn) as unknown as KubeObject;
      fc.pre(E.isRight(decodeStored(written)));
      const step = stepOf(at);
      const faults = (step.type === "run" ? step.effects : []).flatMap((effect) => {
        if (effect.purpose !== "record" || effect.call.verb !== "mergePatch") return [];
        const { status } = effect.call.body as { readonly status: object };
        const read = decodeStored({ ...written, status });
        return E.isLeft(read) ? [read.left.why] : [];
      });
      expect(faults).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

it("is not prepared with a kind that has gone since: that is told, and nothing is touched", () => {
  const read = decodeStored(stored({ phase: "Preparing", items: [{}, {}] }, { finalizers: [FINALIZER] }));
  if (E.isLeft(read)) throw new Error(read.left.why);
  const at = context(read.right);
  const step = decide({
    ...at,
    known: { ...at.known, journal: { type: "missing" }, resources: new Map([["v1/ConfigMap", null]]) },
  });
  expect(JSON.stringify(step)).toContain(
    "no changes were applied: changes[0]: the API server does not serve ConfigMap in v1",
  );
});
