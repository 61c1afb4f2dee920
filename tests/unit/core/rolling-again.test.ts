import { type Condition, fieldManager } from "@janus/api";
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, checkpoints, former, later, refused, underway } from "./underway.ts";

const manager = fieldManager({ name: "deploy-v2", uid: UID });
const MINUTE = 60_000;
const names = ["first", "a", "b", "c"] as const;

const cause: Condition = {
  type: "Committed",
  status: "False",
  reason: "CommitFailed",
  message: "Service shop/d: exceeded quota",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  observedGeneration: 1,
};

/** Created objects are deleted, from the last on. */
const rollingBack = (): ReconcileContext => {
  const changes = names.map((name) => change("Create", name));
  const start = underway("RollingBack", changes, { direction: "back", cursor: 3, reached: 4, since: NOW });
  return { ...start, txn: { ...start.txn, status: { ...start.txn.status, conditions: [cause] } } };
};

const readyIn = ({ txn }: ReconcileContext): string => {
  const { reason, message } = txn.status.conditions.find(({ type }) => type === "Ready") ?? {};
  return `${reason}: ${message}`;
};

/** What Ready says whenever an object is to be deleted, with what is sent in the same step; and what it says in the end. */
const told = (isRefused: (name: string, now: number) => boolean): readonly string[] => {
  const there = new Map(
    names.map((name): readonly [string, KubeObject] => [
      name,
      former("ConfigMap", name, { metadata: { managedFields: [{ manager, operation: "Update" }] } }),
    ]),
  );
  const checkpoint = checkpoints();
  const said: string[] = [];
  const { at: end } = later(rollingBack(), 10 * MINUTE, (ask, at): Answer => {
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    const { name } = ask.call.place;
    if (ask.purpose === "restore") {
      const step = decide(at);
      const sent = step.type === "run" ? step.effects.map(({ purpose }) => purpose) : [];
      said.push(`${sent.join(", ")} ${name}: ${readyIn(at)}`);
      if (isRefused(name, at.now)) return refused(503, "down");
      there.delete(name);
    }
    const object = there.get(name);
    return object === undefined ? refused(404) : E.right(object);
  });
  return [...said, readyIn(end)];
};

const REASON = "Waiting: trying again to delete ConfigMap shop/c: down";

describe("a rollback that goes on after it had to wait", () => {
  it("says again why it is rolled back, beside a write, once something was restored since", () => {
    expect(told((name, now) => name === "c" && now < NOW + 5000).slice(-5)).toEqual([
      `restore c: ${REASON}`,
      `restore, read-target b: ${REASON}`,
      `restore, read-target, record a: ${REASON}`,
      "restore first: CommitFailed: Service shop/d: exceeded quota",
      "CommitFailed: every target is as it was before; rolled back because: Service shop/d: exceeded quota",
    ]);
  });

  it("says that it waits as long as nothing is restored", () => {
    const said = told((_, now) => now < NOW + MINUTE);
    const [first, last] = [
      said.findIndex((one) => one.includes("Waiting: ")),
      said.findIndex((one) => one.includes("record")),
    ];
    expect(first).toBeGreaterThan(0);
    expect(last).toBeGreaterThan(first);
    expect(said.slice(first, last + 1).filter((one) => !one.includes("Waiting: "))).toEqual([]);
  });
});
