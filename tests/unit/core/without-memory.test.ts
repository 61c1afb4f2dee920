import { holderIdentity, REQUEST_ROLLBACK, REQUEST_YIELD } from "@janus/api";
import { describe, expect, it } from "vitest";
import { decide, decideWithoutMemory, isUrgent } from "../../../packages/controller/src/core/decide.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import type { Step } from "../../../packages/controller/src/core/state/effect.ts";
import { allowed, change, former, observingAll, seen, tried, underway } from "./underway.ts";

const MINUTE = 60_000;
const changes = [change("Update", "a"), change("Update", "b")];

const preparing = (metadata: object = {}): ReconcileContext => {
  const at = underway(
    "Preparing",
    changes,
    { direction: "forward", cursor: 0 },
    { journal: { type: "missing" }, serviceAccount: "there" },
  );
  const permitted = observingAll(at, () => ({ preflight: { permissions: allowed("update", "patch") } }));
  return { ...permitted, txn: { ...at.txn, metadata: { ...at.txn.metadata, ...metadata } } };
};

const other = underway("Committing", changes, { direction: "forward", cursor: 0 }).txn;
const asking = { ...other.metadata, name: "other", uid: "22222222-2222-3333-4444-555555555555" };
const waiter: ReconcileContext["nextWaiter"] = () => ({ metadata: asking, status: other.status });

const purposes = (step: Step): readonly string[] =>
  step.type === "run" ? step.effects.map(({ purpose }) => purpose) : [step.type];

const said = (step: Step): string => JSON.stringify(step.type === "run" ? step.effects : step);

describe("one that waits for memory, and has applied nothing,", () => {
  it("waits, where nobody wants anything of it", () => {
    expect(said(decideWithoutMemory({ ...preparing(), now: preparing().now + MINUTE }))).toContain("is large");
  });

  it("ends when it is deleted", () => {
    expect(said(decideWithoutMemory(preparing({ deletionTimestamp: "2026-01-01T00:00:00Z" })))).toContain(
      "the Transaction was deleted",
    );
  });

  it("ends when a rollback is requested", () => {
    const step = decideWithoutMemory(preparing({ annotations: { [REQUEST_ROLLBACK]: "" } }));
    expect(said(step)).toContain("rollback requested");
    expect(said(step)).toContain("Failed");
  });

  it("ends at its timeout, and waits no longer than until then", () => {
    const at = preparing();
    const started = at.now;
    const until = started + at.txn.spec.timeout;
    const shortBefore = decideWithoutMemory({
      ...at,
      known: { ...at.known, statusWritten: { sent: until, answered: until } },
      now: until - 10_000,
    });
    expect(shortBefore).toMatchObject({ type: "wait", until });
    expect(said(decideWithoutMemory({ ...at, now: until }))).toContain("spec.timeout passed");
  });

  it("releases its locks for one that has applied changes, when that asks for them", () => {
    const at = preparing({ annotations: { [REQUEST_YIELD]: holderIdentity(asking) } });
    const yieldRequester = { uid: asking.uid, phase: "Committing", readAt: at.now };
    expect(purposes(decideWithoutMemory({ ...at, known: { ...at.known, yieldRequester } }))).toEqual([
      "release-lock",
      "release-lock",
    ]);
  });

  it("releases its locks when it has held them for long, and others wait for them", () => {
    const at = { ...preparing(), nextWaiter: waiter };
    const known = { ...at.known, holdsSince: at.now };
    expect(purposes(decideWithoutMemory({ ...at, known, now: at.now + 2 * MINUTE }))).toContain("release-lock");
  });
});

describe("a large Transaction is urgent", () => {
  it("when it has applied changes, or holds a lock that others wait for, and not otherwise", () => {
    const committing = underway("Committing", changes, { direction: "forward", cursor: 1 });
    expect(isUrgent(committing)).toBe(true);
    expect(isUrgent({ ...preparing(), nextWaiter: waiter })).toBe(true);
    expect(isUrgent(preparing())).toBe(false);
  });
});

it("keeps what it has examined, with its snapshot, when others wait for its memory, and reads no more before that", () => {
  const start = observingAll(preparing(), ({ target: { name } }, index, { preflight }) => ({
    before: undefined,
    ...(index === 0
      ? {
          target: seen(former("ConfigMap", name)),
          preflight: { ...preflight, trial: tried(seen(former("ConfigMap", name))) },
        }
      : {}),
  }));
  expect(purposes(decide(start))).toEqual(["read-target"]);
  expect(purposes(decide({ ...start, isOver: true }))).toEqual(["journal", "store"]);
  const unexamined = observingAll(start, (_, __, { preflight }) => ({
    preflight: { ...preflight, trial: undefined },
    target: undefined,
  }));
  expect(purposes(decide({ ...unexamined, isOver: true }))).toEqual(["read-target"]);
});
