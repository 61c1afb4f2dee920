import { decodeTransaction, FINALIZER, holderIdentity, type Item, REQUEST_ROLLBACK, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import {
  atRest,
  awaitMemory,
  hasLargeTarget,
  outlineAtRest,
  restingBytes,
} from "../../../packages/controller/src/core/state/idle-memory.ts";
import type { LockObservation } from "../../../packages/controller/src/core/state/lock-observation.ts";
import { changeIn } from "../../../packages/controller/src/core/state/observations.ts";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall, Effect } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import {
  allowed,
  type Answer,
  change,
  checkpointed,
  former,
  later,
  observing,
  observingAll,
  refused,
  seen,
  underway,
} from "./underway.ts";
import type { KubeObject } from "@janus/types";
import { heard } from "./learn.ts";

const target = (resourceVersion: string): KubeObject => {
  const object = former("ConfigMap", "a", { data: { text: resourceVersion.repeat(30_000) } });
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
};

/** It has its locks and its rights, and has read nothing. */
const preparing = (): ReconcileContext => {
  const at = underway(
    "Preparing",
    [change("Update", "a")],
    { direction: "forward", cursor: 0 },
    { journal: { type: "missing" }, serviceAccount: "there" },
  );
  return observing(at, { 0: { before: undefined, preflight: { permissions: allowed("update", "patch") } } });
};

/** It is prepared, while the first request of this purpose does not get through; it rests then, and the target becomes another. */
const interrupted = (purpose: Effect["purpose"], then: KubeObject | undefined) => {
  let there: KubeObject | undefined = target("1");
  let hasRested = false;
  let kept: readonly string[] = [];
  let at = preparing();
  const answer = (ask: ApiCall): Answer => {
    if (ask.purpose === purpose && !hasRested) {
      hasRested = true;
      there = then;
      return refused(503);
    }
    if (ask.purpose === "read-store") return refused(404);
    if (ask.purpose === "read-target" || ask.purpose === "dry-run")
      return there === undefined ? refused(404) : E.right(there);
    const body = ("body" in ask.call ? ask.call.body : {}) as KubeObject;
    if (ask.purpose === "store") {
      kept = [...kept, ...Object.keys(body["data"] as object)];
      return E.right({ ...body, metadata: { ...body.metadata, uid: `uid-${kept.length}`, resourceVersion: "1" } });
    }
    if (ask.purpose === "record") {
      const decoded = decodeTransaction({ ...(Transaction.encode(at.txn) as KubeObject), status: body["status"] });
      if (E.isRight(decoded)) at = { ...at, txn: decoded.right };
      return E.right(body);
    }
    return checkpointed(at, ask);
  };
  while (at.txn.status.phase === "Preparing") {
    const step = decide(at);
    if (step.type === "done") break;
    const asks = step.type === "run" ? step.effects.filter((effect) => "call" in effect) : [];
    let rests = step.type === "wait";
    at = { ...at, now: step.type === "wait" ? step.until : at.now + 1 };
    for (const ask of asks) {
      const { known, failed } = heard(at, ask, answer(ask), at.now);
      at = { ...at, known };
      rests ||= failed !== undefined;
    }
    if (rests) at = { ...at, known: atRest(at).known };
  }
  const { phase, items } = at.txn.status;
  return { phase, snapshot: snapshotOf(items[0]), kept };
};

const snapshotOf = (item: Item | undefined): string | undefined =>
  item?.state.type === "prepared" && item.state.before.existed ? item.state.before.snapshot?.key : undefined;

/** What comes between the first read of a target and the record of its snapshot. */
const INTERRUPTED = ["journal", "store", "record"] as const;

const shownLongAgo = (): ReconcileContext => {
  const at = preparing();
  return { ...at, known: { ...at.known, statusWritten: { sent: 0, answered: 0 } } };
};

describe("a large Transaction that waits for its turn", () => {
  it("says so", () => {
    expect(awaitMemory(shownLongAgo()).type).toBe("run");
  });

  it("goes on saying that a later version of the controller is needed, where it is", () => {
    const at = shownLongAgo();
    expect(awaitMemory({ ...at, known: { ...at.known, later: { why: "format 2", readAt: at.now } } }).type).toBe(
      "wait",
    );
  });
});

describe("a large target that others have written while its Transaction rested", () => {
  it.each(INTERRUPTED)("has a snapshot of the version that is recorded (%s)", (purpose) => {
    const { phase, snapshot, kept } = interrupted(purpose, target("2"));
    expect(phase).toBe("Committing");
    expect(kept).toContain(snapshot);
  });

  it.each(INTERRUPTED)("is never taken for one that was not there (%s)", (purpose) => {
    const { phase, snapshot, kept } = interrupted(purpose, undefined);
    expect(phase === "Failed" || kept.some((key) => key === snapshot)).toBe(true);
  });
});

it("asks for one thing at a time while it has a large target in memory, not while it has many small ones", () => {
  const changes = Array.from({ length: 40 }, (_, n) => change("Update", `target-${n}`));
  const many = underway("Preparing", changes, { direction: "forward", cursor: 0 });
  const holding = (text: string) => {
    const object = former("ConfigMap", "a", { data: { text } });
    return observingAll(many, () => ({ target: seen(object) })).known;
  };
  expect(hasLargeTarget(holding("x".repeat(30_000)))).toBe(false);
  expect(hasLargeTarget(holding("x".repeat(300_000)))).toBe(true);
});

describe("a Transaction at rest", () => {
  const changes = Array.from({ length: 50 }, (_, n) => change("Update", `target-${n}`));
  const lived = (lock: LockObservation): ReconcileContext =>
    observingAll(underway("Preparing", changes, { direction: "forward", cursor: 0 }), (_, index) => ({
      lock: index === 7 ? lock : { type: "held", version: { uid: `lock-${index}`, resourceVersion: "1" }, until: 1 },
    }));
  const theirs: LockObservation = {
    type: "theirs",
    holder: "somebody",
    version: { uid: "lock-7", resourceVersion: "1" },
    readAt: 2,
    unchangedSince: 1,
    expires: 3,
  };

  it("keeps nothing that its author may add to its metadata without limit", () => {
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`label-${n}`, "x".repeat(200)]));
    const { txn, known } = lived(theirs);
    const { uid } = txn.metadata;
    const metadata = {
      ...txn.metadata,
      labels: many,
      annotations: { ...many, [REQUEST_ROLLBACK]: "x".repeat(9_000) },
      finalizers: [FINALIZER, ...Object.keys(many)],
      ownerReferences: Object.keys(many).map((name) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid })),
    };
    const rested = atRest({ txn: { ...txn, metadata }, known });
    expect(restingBytes(rested)).toBeLessThan(restingBytes(atRest({ txn, known })) + 1_000);
    expect(rested.txn.metadata).toMatchObject({
      uid,
      finalizers: [FINALIZER],
      annotations: { [REQUEST_ROLLBACK]: "" },
    });
  });

  it("is reduced to an outline that takes a small part of it, and still has what cannot be read again", () => {
    const { txn, known } = lived(theirs);
    const since = { holdsSince: 5, yieldedAt: 6, unansweredCreate: 7, begun: true } as const;
    const whole = { txn, known: { ...known, ...since } };
    const outline = outlineAtRest(whole);
    expect(restingBytes(outline) * 8).toBeLessThan(restingBytes(atRest(whole)));
    expect(outline.known).toMatchObject(since);
    expect(outline.known.journal).toBeUndefined();
    expect(changeIn(outline.known, 7).lock).toEqual(theirs);
    expect(changeIn(outline.known, 8).lock).toEqual({ type: "taken" });
  });

  it("goes on from its outline as after a restart: its change is looked up, under its lock, before another one is made", () => {
    const two = [change("Create", "a"), change("Create", "b")];
    const first = underway("Committing", two, { direction: "forward", cursor: 0 });
    const { known } = outlineAtRest(first);
    const spec = { holderIdentity: holderIdentity(first.txn.metadata), leaseDurationSeconds: 300 };
    const { asked, at } = later(
      { ...first, known },
      60_000,
      (ask, then) => {
        const { purpose, call } = ask;
        if (["read-lock", "renew-lock"].includes(purpose)) return E.right(former("Lease", call.place.name, { spec }));
        if (purpose === "change" && "body" in call) return E.right({ ...former("ConfigMap", "new"), ...call.body });
        if (["read-journal", "checkpoint"].includes(purpose)) return checkpointed(then, ask);
        return refused(404);
      },
      "served",
    );
    const purposes = asked.map(({ purpose }) => purpose);
    expect(at.txn.status.phase).toBe("Committed");
    expect(purposes.indexOf("read-lock")).toBeLessThan(purposes.indexOf("change"));
    expect(purposes).not.toContain("lock");
  });
});
