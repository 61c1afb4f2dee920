import { Transaction } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { EventSpec } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { waiting } from "../../../packages/controller/src/core/state/status-progress.ts";
import { heard } from "./learn.ts";
import { change, underway } from "./underway.ts";

const event = (message: string): EventSpec => ({ type: "Normal", reason: "LockWaiting", message });

/** What it says at these times, in ms: by event, or by event and status. */
const told = (times: readonly (readonly [at: number, reason: string])[]): readonly string[] => {
  const start = underway("Preparing", [change("Create", "a")], { direction: "forward", cursor: 0 });
  const due = start.known.statusWritten.sent + 1000;
  let context: ReconcileContext = { ...start, now: due };
  return times.flatMap(([at, reason]) => {
    const now = due + at;
    const step = waiting({ ...context, now }, undefined, now + 1000, reason, event(reason));
    if (step.type === "wait") return (step.events ?? []).map(({ message }) => `event: ${message}`);
    if (step.type !== "run") throw new Error(step.type);
    const [write] = step.effects;
    if (write === undefined || !("call" in write)) throw new Error("nothing is written");
    const written = "body" in write.call ? (write.call.body as { readonly status: object }) : { status: {} };
    const stored = Transaction.encode(context.txn) as unknown as KubeObject & { readonly status: object };
    const answer = E.right({ ...stored, status: { ...stored.status, ...written.status } });
    const { txn, known } = heard(context, write, answer, now, now);
    context = { ...context, txn, known };
    return [`event and status: ${reason}`];
  });
};

it("a reason to wait is told at once, or as an event until the status may tell it", () => {
  expect(
    told([
      [-500, "first has locked it"],
      [0, "first has locked it"],
    ]),
  ).toEqual(["event: first has locked it", "event and status: first has locked it"]);
});

it("one that waits for longer looks again as soon as the status may tell why", () => {
  const start = underway("Preparing", [change("Create", "a")], { direction: "forward", cursor: 0 });
  const { sent } = start.known.statusWritten;
  const step = waiting({ ...start, now: sent + 100 }, undefined, sent + 5000, "first has locked it");
  expect(step).toMatchObject({ type: "wait", until: sent + 1000 });
});

it("another reason of the same wait is told after ten seconds: not at each release of a lock for which many wait", () => {
  expect(
    told([
      [0, "first has locked it"],
      [2000, "second has locked it"],
      [4000, "third has locked it"],
      [9999, "fourth has locked it"],
      [10_000, "fifth has locked it"],
      [12_000, "sixth has locked it"],
    ]),
  ).toEqual(["event and status: first has locked it", "event and status: fifth has locked it"]);
});

it("that it waits is told soon, however long writes of the status take", () => {
  const start = underway("Preparing", [change("Create", "a")], { direction: "forward", cursor: 0 });
  const { sent } = start.known.statusWritten;
  const known = { ...start.known, statusWritten: { sent, answered: sent + 2000 } };
  expect(waiting({ ...start, known, now: sent + 2500 }, undefined, sent + 9000, "first has locked it").type).toBe(
    "run",
  );
});
