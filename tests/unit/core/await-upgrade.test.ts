import { FINALIZER, Transaction, UID_LABEL } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UPGRADE_PAUSE } from "../../../packages/controller/src/core/transitions/await-upgrade.ts";
import { decide, decideUnread } from "../../../packages/controller/src/core/decide.ts";
import { NOTHING_CLEANED_UP } from "../../../packages/controller/src/core/state/cleanup.ts";
import type { ApiCall, Step } from "../../../packages/controller/src/core/state/effect.ts";
import { newJournal } from "../../../packages/controller/src/core/state/journal.ts";
import { readJournal } from "../../../packages/controller/src/core/state/journal-requests.ts";
import {
  changeIn,
  noObservations,
  type Observations,
  withChange,
} from "../../../packages/controller/src/core/state/observations.ts";
import { observeHolder } from "../../../packages/controller/src/core/locks/lock-requests.ts";
import type { JsonObject, KubeObject } from "@janus/types";
import { configMaps } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import { decodeStored, decodeBestEffort } from "../../../packages/controller/src/core/state/decode-stored.ts";
import { lookAtStore } from "../../../packages/controller/src/core/snapshots/release-stores.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { digestOfStore } from "../../../packages/controller/src/core/snapshots/snapshot-data.ts";
import { readStores } from "../../../packages/controller/src/core/snapshots/snapshot-stores.ts";
import { arbitrarySituation, NOW, settings } from "./arbitrary-situation.ts";
import { transaction, UID } from "./transaction.ts";
import { learn } from "./learn.ts";

const changes = [
  { type: "Patch", target: { apiVersion: "v1", kind: "ConfigMap", name: "a" }, content: { data: { a: "1" } } },
] as const;
const txn = transaction(changes);

const stored = ({ metadata = {}, spec = {}, change = {}, status }: Record<string, object | undefined>): KubeObject => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { ...txn.metadata, ...metadata },
  spec: { serviceAccountName: "deploy-sa", changes: [{ ...changes[0], ...change }], ...spec },
  ...(status === undefined ? {} : { status }),
});

const context = (txn: Transaction, known: Partial<Observations> = {}, now = NOW): ReconcileContext => ({
  txn,
  known: { ...noObservations(NOW), hasRecorded: true, ...known },
  now,
  settings,
  queuedBefore: () => undefined,
  nextWaiter: () => undefined,
});

const stepOf = (object: KubeObject, known: Partial<Observations> = {}): Step => {
  const read = decodeStored(object);
  if (E.isRight(read)) return decide(context(read.right, known));
  expect(read.left.type).toBe("unsupported");
  return decideUnread(context(decodeBestEffort(object), known), read.left);
};

const purposes = (step: Step): readonly string[] =>
  step.type === "run" ? step.effects.map(({ purpose }) => purpose) : [];
const told = (step: Step): readonly string[] =>
  step.type === "done" ? [] : (step.events ?? []).map(({ reason, message }) => `${reason}: ${message}`);

const bodyOf = (effect: ApiCall | undefined): object =>
  effect !== undefined && "body" in effect.call ? effect.call.body : {};

const held = { finalizers: [FINALIZER] };
const deleted = { deletionTimestamp: "2026-01-01T12:00:00Z" };
const gate = { retries: 3 };
const condition = { type: "Ready", status: "False", reason: "R", message: "", lastTransitionTime: "" };
const item = { prepared: true, uid: "1", resourceVersion: "1", snapshot: { store: "s", key: "k" } };
const committing = { phase: "Committing", items: [item] };

describe("a Transaction that only a later version of the controller knows", () => {
  it.each([
    ["in its spec", stored({ change: gate }), "spec.changes[0].retries: this version of the controller does not know"],
    ["in its status", stored({ metadata: held, status: { ...committing, gates: [] } }), "status.gates: this version"],
  ])("says which field it is, and begins nothing: one %s", (_, object, why) => {
    const step = stepOf(object);
    expect(purposes(step)).toEqual(["report-unreadable"]);
    expect(told(step)).toEqual([expect.stringContaining(`RecoveryBlocked: not processed until`)]);
    expect(told(step)[0]).toContain(why);
    expect(told(step)[0]).toContain("upgrade the controller");
    const [effect] = step.type === "run" ? (step.effects as readonly ApiCall[]) : [];
    const { status } = bodyOf(effect) as { readonly status: object };
    expect(status).toMatchObject({
      conditions: [
        { type: "Ready", status: "False", reason: "Unsupported" },
        { type: "Stalled", status: "True", reason: "Unsupported" },
      ],
    });
    expect(Object.keys(status)).toEqual(["conditions"]);
    // Once.
    const again = stepOf({ ...object, status: { ...(object["status"] as object), ...status } });
    expect([again.type, told(again)]).toEqual(["wait", []]);
  });

  it.each<readonly [string, object, object]>([
    ["its status is in a later format", held, { ...committing, formatVersion: 2 }],
    ["a condition is", held, { ...committing, conditions: [{ ...condition, since: "" }] }],
    ["it has ended, and is not cleaned up", held, { ...committing, phase: "Failed", gates: [] }],
  ])("is not written to, but only told of, where %s", (_, metadata, status) => {
    const step = stepOf(stored({ metadata, status }));
    expect([step.type, purposes(step)]).toEqual(["wait", []]);
    expect(told(step)).toHaveLength(1);
  });

  it("that has ended, and is cleaned up, is nobody's business", () => {
    const status = { ...committing, phase: "Committed", gates: [] };
    expect(stepOf(stored({ status }))).toEqual({ type: "done" });
    expect(stepOf(stored({ status, metadata: deleted }))).toEqual({ type: "done" });
  });

  it("goes at once when it is deleted and nothing was begun", () => {
    expect(stepOf(stored({ change: gate, metadata: deleted }))).toEqual({ type: "done" });
  });

  it("is kept when it is deleted and something was begun, unless its namespace goes, too", () => {
    const object = stored({ metadata: { ...held, ...deleted }, status: { ...committing, formatVersion: 2 } });
    expect(purposes(stepOf(object))).toEqual(["read-namespace"]);
    const stays = stepOf(object, { namespace: { isGoing: false, readAt: NOW } });
    expect([stays.type, purposes(stays)]).toEqual(["wait", []]);
    expect(told(stays)[0]).toContain("its deletion waits, too");
    expect(purposes(stepOf(object, { namespace: { isGoing: false, readAt: NOW - UPGRADE_PAUSE } }))).toEqual([
      "read-namespace",
    ]);
    expect(purposes(stepOf(object, { namespace: { isGoing: true, readAt: NOW } }))).toEqual(["read-journal"]);
  });

  it("keeps its locks whatever it says of its changes", () => {
    const target = { resource: configMaps, namespace: "shop", name: "a" };
    const theirs = {
      type: "theirs",
      holder: "",
      version: { uid: "1", resourceVersion: "1" },
      readAt: 0,
      unchangedSince: 0,
    } as const;
    const known = withChange(noObservations(NOW), 0, { lock: { ...theirs, expires: 0 } });
    const holderState = (formatVersion: number) => {
      const object = stored({ spec: { changes: undefined }, status: { ...committing, formatVersion } });
      const { lock } = changeIn(learn({ txn, known }, observeHolder(0, txn.metadata, target), E.right(object)), 0);
      return lock?.type === "theirs" ? lock.holderState : undefined;
    };
    expect([holderState(1), holderState(2)]).toEqual(["foreign", "active"]);
  });

  it("is left alone whatever else there is in it", () => {
    fc.assert(
      fc.property(arbitrarySituation, fc.constantFrom("spec", "status"), fc.boolean(), (at, where, isDeleted) => {
        const object = Transaction.encode(at.txn) as unknown as KubeObject;
        const { metadata } = object;
        const { deletionTimestamp: _, ...rest } = metadata;
        const surplus = {
          ...object,
          metadata: isDeleted ? { ...metadata, ...deleted } : rest,
          [where]: { ...(object[where] as object), gates: [] },
        };
        const step = stepOf(surplus, { namespace: { isGoing: false, readAt: at.now } });
        const harmless = ["report-unreadable", "read-namespace"];
        expect(purposes(step).filter((purpose) => !harmless.includes(purpose))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

const journal = (data: object): KubeObject => {
  const body = newJournal(txn, { position: { direction: "forward", cursor: 1 } }, 3) as KubeObject;
  return {
    ...body,
    metadata: { ...body.metadata, uid: "j-1", resourceVersion: "1" },
    data: { ...(body["data"] as JsonObject), ...data },
  };
};

const learned = (data: object, now = NOW): Observations =>
  learn({ txn, known: noObservations(NOW) }, readJournal(txn), E.right(journal(data)), now);

const NAME = `ConfigMap shop/janus-journal-${UID}`;

/** What is decided so long after a journal of a later version was seen. */
const waiting = (at: ReconcileContext, age: number): Step => {
  const later = { why: "it is of tomorrow", readAt: at.now - age };
  return decide({
    ...at,
    known: { ...at.known, journal: { type: "later", storeNames: 1 }, later, cleanup: NOTHING_CLEANED_UP },
  });
};

describe("a journal", () => {
  it.each([
    [
      { format: "2" },
      `the journal ${NAME} was written by a later version of the controller (format 2; this version knows 1): upgrade the controller`,
    ],
    [{ format: "two" }, "(in a format that this version does not know)"],
    [{ "gate-0": "{}" }, "(with gate-0, which this version does not know)"],
    [{ "note-x": "{}", a: "", b: "", c: "" }, "(with note-x, a, b, …, which this version does not know)"],
    [{ format: "2", position: "[]" }, "(format 2; this version knows 1)"],
    [{ position: '{"direction":"forward","cursor":0,"lane":1}' }, "(with lane of position, which this"],
    [{ position: '{"direction":"sideways","cursor":0}' }, "(with direction of position, which this"],
    [{ "note-0": '{"type":"compensated","error":""}' }, "(with type of note-0, which this"],
    [{ "note-0": '{"type":"restored","error":"","by":"hand"}' }, "(with by of note-0, which this"],
    [{ "deferred-0": '{"error":"","since":1,"after":2}' }, "(with after of deferred-0, which this"],
    [{ "renewed-0": '{"before":{},"stores":[],"parts":2}' }, "(with parts of renewed-0, which this"],
  ])("of a later version is not taken for one: %j", (data, why) => {
    const { journal, later, changes } = learned(data);
    expect(journal).toEqual({ type: "later", storeNames: 3 });
    expect(later?.why).toContain(why);
    expect(changes.size).toBe(0);
  });

  it.each([
    [{}],
    [{ format: "1" }],
    [{ "created-0": "1", "note-0": "?", "doubted-0": "true", "deferred-0": "?", "renewed-0": "?", "created-99": "1" }],
  ])("of the format that is known is one: %j", (data) => {
    const { journal, later } = learned(data);
    expect(journal).toMatchObject({ type: "read" });
    expect(later).toBeUndefined();
  });

  it("that is altered, in the format that is known, is still made anew", () => {
    expect(learned({ position: "?" }).journal).toMatchObject({ type: "altered" });
  });

  it("of a later version makes its Transaction wait in every phase, which is reported", () => {
    fc.assert(
      fc.property(arbitrarySituation, fc.nat({ max: UPGRADE_PAUSE - 1 }), (at, age) => {
        const step = waiting(at, age);
        // In a namespace that is being deleted it lets go.
        fc.pre(at.txn.metadata.deletionTimestamp === undefined || at.known.namespace?.isGoing !== true);
        const harmless = ["report-unreadable", "read-namespace"];
        expect(purposes(step).filter((purpose) => !harmless.includes(purpose))).toEqual([]);
        expect(told(step).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });

  it("of a later version is what nothing is decided on, in any phase, also when it is looked at again", () => {
    const writes = ["checkpoint", "change", "restore", "store", "release-store", "journal"];
    fc.assert(
      fc.property(arbitrarySituation, fc.nat(), (at, more) => {
        const step = waiting(at, UPGRADE_PAUSE + more);
        expect(purposes(step).filter((purpose) => writes.includes(purpose))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("of a later version is looked at again, and what it says then counts", () => {
    const read = decodeStored(stored({ metadata: held, status: committing }));
    if (E.isLeft(read)) throw new Error(read.left.why);
    const known = { ...learned({ format: "2" }), resources: new Map([["v1/ConfigMap", configMaps]]) };
    const at = (now: number, known: Observations): Step => decide(context(read.right, known, now));
    const first = at(NOW, known);
    expect(purposes(first)).toEqual(["report-unreadable"]);
    const complained = {
      ...known,
      cleanup: {
        ...NOTHING_CLEANED_UP,
        reported: new Set(told(first).map((line) => line.replace("RecoveryBlocked: ", ""))),
      },
    };
    expect(at(NOW + 1, complained)).toMatchObject({ type: "wait", until: NOW + UPGRADE_PAUSE });
    expect(purposes(at(NOW + UPGRADE_PAUSE, complained))).toEqual(["read-journal"]);
    const reading = (known: Observations, data: object, now: number): Observations =>
      learn({ txn: read.right, known }, readJournal(read.right), E.right(journal(data)), now);
    const still = reading(complained, { format: "2" }, NOW + UPGRADE_PAUSE);
    expect(at(NOW + UPGRADE_PAUSE, still)).toMatchObject({ type: "wait", until: NOW + 2 * UPGRADE_PAUSE });
    const right = reading(still, {}, NOW + 2 * UPGRADE_PAUSE);
    expect(right.journal).toMatchObject({ type: "read" });
    expect(at(NOW + 2 * UPGRADE_PAUSE, right).type).toBe("run");
  });
});

describe.each(["ConfigMap", "Secret"] as const)("a snapshot in a %s", (kind) => {
  const plain = new Map([["item-0-1", '{"metadata":{}}']]);
  const store = (more: Readonly<Record<string, string>>) => {
    const data = new Map([...plain, ...Object.entries(more)]);
    const text = (value: string) => (kind === "Secret" ? Buffer.from(value).toString("base64") : value);
    const object: KubeObject = {
      apiVersion: "v1",
      kind,
      metadata: { name: "s", namespace: "shop", uid: "s-1", resourceVersion: "1", labels: { [UID_LABEL]: UID } },
      data: Object.fromEntries([...data].map(([key, value]) => [key, text(value)])),
    };
    return { object, ref: { kind, name: "s", uid: "s-1", digest: digestOfStore(data) } };
  };

  it.each([
    [{ format: "2" }, "format 2; this version knows 1"],
    [{ "gone-0": "" }, "with gone-0"],
  ])("of a later version is neither read nor released: %j", (more, why) => {
    const { object, ref } = store(more);
    const [read] = readStores(txn, noObservations(NOW), [ref]);
    const known = read && learn({ txn, known: noObservations(NOW) }, read, E.right(object));
    expect(known?.storeData.size).toBe(0);
    expect(known?.later?.why).toContain(`the snapshot ${kind} shop/s was written by a later version`);
    expect(known?.later?.why).toContain(why);
    const seen = learn({ txn, known: noObservations(NOW) }, lookAtStore(txn, ref, ref), E.right(object));
    expect(seen.later?.why).toBe(known?.later?.why);
    // Nor after the pause, without another look.
    const committed = decodeStored(
      stored({
        metadata: held,
        status: { ...committing, phase: "Committed", items: [{ ...item, committed: true }], snapshots: [ref] },
      }),
    );
    if (E.isLeft(committed)) throw new Error(committed.left.why);
    const ready = {
      ...seen,
      resources: new Map([["v1/ConfigMap", configMaps]]),
      journal: { type: "missing" as const },
      changes: new Map([[0, { lock: { type: "lost" as const, why: "" } }]]),
    };
    const at = (now: number): readonly string[] => purposes(decide(context(committed.right, ready, now)));
    expect(at(NOW)).toEqual([]);
    expect(new Set(at(NOW + UPGRADE_PAUSE))).toEqual(new Set(["read-store"]));
  });

  it("of the format that is known is", () => {
    for (const more of [{}, { format: "1" }]) {
      const { object, ref } = store(more);
      const [read] = readStores(txn, noObservations(NOW), [ref]);
      const known = read && learn({ txn, known: noObservations(NOW) }, read, E.right(object));
      expect(known?.storeData.get(`${kind}/s`)).toMatchObject({ type: "data" });
      expect(known?.later).toBeUndefined();
    }
  });

  it("that was altered is not one of a later version", () => {
    const { ref } = store({});
    const { object } = store({ format: "2" });
    const [read] = readStores(txn, noObservations(NOW), [ref]);
    const known = read && learn({ txn, known: noObservations(NOW) }, read, E.right(object));
    expect(known?.storeData.get(`${kind}/s`)).toMatchObject({ type: "broken" });
    expect(known?.later).toBeUndefined();
  });
});
