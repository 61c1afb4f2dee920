import { decodeTransaction, type Item, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { atRest, awaitMemory, hasLargeTarget } from "../../../packages/controller/src/core/state/idle-memory.ts";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ApiCall, Effect } from "../../../packages/controller/src/core/state/effect.ts";
import { handleAnswer } from "../../../packages/controller/src/core/state/handle-answer.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import {
  allowed,
  type Answer,
  change,
  checkpointed,
  former,
  observing,
  observingAll,
  refused,
  seen,
  underway,
} from "./underway.ts";
import type { KubeObject } from "@janus/types";

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
  return observing(at, { 0: { before: undefined, permissions: allowed("update", "patch") } });
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
      const { known, failed } = handleAnswer(at.known, ask, answer(ask), at.now, at.now);
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
  return { ...at, known: { ...at.known, projectedAt: 0 } };
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
    expect(phase).toBe("Prepared");
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
