import type { ApiError, KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { Controller } from "../../../../packages/runtime/src/reconcile/controller.ts";
import {
  reconcileKeys,
  type Round,
  type Surroundings,
} from "../../../../packages/runtime/src/reconcile/reconcile-key.ts";

const round: Round = { log: () => {}, heartbeat: () => {} };

const object = (uid: string, resourceVersion = "1"): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "app", uid, resourceVersion },
});

const absent: ApiError = {
  type: "refused",
  code: 404,
  reason: "NotFound",
  message: "not found",
  causes: [],
  notFound: "object",
};

interface Memory {
  readonly uid: string;
  readonly isGone: boolean;
  readonly seen: readonly string[];
}

/** Remembers the uid, and what has happened. */
const controller = (decide: Controller<Memory, string, string>["decide"]): Controller<Memory, string, string> => ({
  remember: ({ metadata: { uid = "" } }) => ({ uid, isGone: false, seen: [] }),
  decide,
  observe: (memory, happened) =>
    typeof happened === "string"
      ? happened === "stale"
        ? { memory, isStale: true }
        : { memory: { ...memory, seen: [...memory.seen, happened] } }
      : { memory },
  afterDeletion: (memory) => ({ ...memory, isGone: true }),
  // Of another version, nothing that was observed is true any more.
  refresh: (memory, { metadata: { resourceVersion } }) => (resourceVersion === "1" ? memory : undefined),
});

/** A loop over these reads, one after the other, and what it has done. */
const loop = (
  reads: readonly (KubeObject | "absent")[],
  decide: Controller<Memory, string, string>["decide"],
  more: Partial<Surroundings<Memory, string, string>> = {},
) => {
  const left = [...reads];
  const woken: string[] = [];
  const decided: Memory[] = [];
  const keys = reconcileKeys<Memory, string, string>(
    controller((memory, turn) => {
      decided.push(memory);
      return decide(memory, turn);
    }),
    {
      kind: "ConfigMap",
      read: () => {
        const next = left.shift() ?? "absent";
        return Promise.resolve(next === "absent" ? E.left(absent) : E.right(next));
      },
      perform: (_, __, effect) => Promise.resolve(effect),
      wake: (key) => woken.push(key),
      mayExist: () => false,
      mayBeDeleted: () => false,
      ...more,
    },
  );
  return { keys, woken, decided };
};

const waits = { type: "wait", until: Number.POSITIVE_INFINITY, because: "nothing is to be done" } as const;

it("cleans up what a deleted object has left under a key of its own, once", async () => {
  const { keys, woken, decided } = loop([object("1"), "absent"], ({ isGone }) => (isGone ? { type: "done" } : waits));
  expect(await keys.reconcile("shop/app", round)).toEqual({ type: "done" });
  expect(await keys.reconcile("shop/app", round)).toEqual({ type: "done" });
  expect(woken).toEqual(["shop/app%1"]);
  expect(await keys.reconcile("shop/app%1", round)).toEqual({ type: "done" });
  expect(await keys.reconcile("shop/app%1", round)).toEqual({ type: "done" });
  expect(decided.map(({ isGone }) => isGone)).toEqual([false, true]);
});

it("decides nothing under the key of a deletion for an object that is there after all", async () => {
  const { keys, woken, decided } = loop([object("1"), "absent", object("1")], () => waits);
  for (let turn = 0; turn < 3; turn += 1) await keys.reconcile("shop/app", round);
  expect(woken).toEqual(["shop/app%1"]);
  const before = decided.length;
  expect(await keys.reconcile("shop/app%1", round)).toEqual({ type: "done" });
  expect(decided).toHaveLength(before);
  expect(decided.at(-1)).toMatchObject({ isGone: false });
});

it("cleans up what was there before another object got its name", async () => {
  const { keys, woken, decided } = loop([object("1"), object("2")], () => waits);
  await keys.reconcile("shop/app", round);
  await keys.reconcile("shop/app", round);
  expect(woken).toEqual(["shop/app%1"]);
  expect(decided.map(({ uid }) => uid)).toEqual(["1", "2"]);
});

it("reads it again when another client has written it, and folds what happened in before it decides again", async () => {
  const { keys, decided } = loop([object("1"), object("1")], ({ seen }) => {
    if (seen.length === 0) return { type: "run", effects: ["first", "second"] };
    return seen.length === 2 ? { type: "run", effects: ["stale"] } : waits;
  });
  expect(await keys.reconcile("shop/app", round)).toEqual({ type: "done" });
  expect(decided.map(({ seen }) => seen.length)).toEqual([0, 2, 2]);
});

const ENDLESS: readonly (readonly [string, Controller<Memory, string, string>["decide"], number, string])[] = [
  [
    "always wants something else",
    ({ seen }) => ({ type: "run", effects: [`effect ${seen.length}`] }),
    1000,
    "still not at rest after 1000 decisions; the last effects: string",
  ],
  [
    "always wants the same",
    () => ({ type: "run", effects: ["again"] }),
    11,
    "decide returned the same effects 11 times in a row: string",
  ],
  [
    "wants nothing, and decides again",
    () => ({ type: "run", effects: [] }),
    1,
    "decide returned a run without effects",
  ],
  ["waits for no instant", () => ({ ...waits, until: Number.NaN }), 1, "decide returned a wait until NaN"],
];

it.each(ENDLESS)("ends the turn of a controller that %s, and says why", async (_, decide, decisions, why) => {
  const defects: string[] = [];
  const { keys, decided } = loop([object("1")], decide, { onDefect: (__, { uid }) => defects.push(uid) });
  await expect(keys.reconcile("shop/app", round)).rejects.toThrow(why);
  expect(decided).toHaveLength(decisions);
  expect(defects).toEqual(["1"]);
});

it("reads an object that waits for an instant that has passed once a second, and says so", async () => {
  const said: string[] = [];
  const { keys } = loop([object("1")], (_, { now }) => ({ ...waits, until: now - 1 }));
  const requeue = await keys.reconcile("shop/app", { ...round, log: (level, message) => said.push(level, message) });
  expect(requeue).toEqual({ type: "after", ms: 1000 });
  expect(said).toEqual(["warn", expect.stringContaining("waits until an instant that has passed") as string]);
});

it("says that an object was outdated each time that it was read", async () => {
  const said: string[] = [];
  const { keys } = loop(Array<KubeObject>(20).fill(object("1")), () => ({ type: "run", effects: ["stale"] }));
  const requeue = await keys.reconcile("shop/app", { ...round, log: (level, message) => said.push(level, message) });
  expect(requeue).toEqual({ type: "failed" });
  expect(said).toEqual(["warn", expect.stringContaining("was read 10 times, and outdated each time") as string]);
});

it("cleans up what a deleted object has left although that meets a conflict", async () => {
  const answers = ["stale", "cleaned"];
  const { keys } = loop(
    [object("1"), "absent"],
    ({ isGone, seen }) => {
      if (!isGone) return waits;
      return seen.includes("cleaned") ? { type: "done" } : { type: "run", effects: ["clean"] };
    },
    { perform: () => Promise.resolve(answers.shift() ?? "") },
  );
  await keys.reconcile("shop/app", round);
  await keys.reconcile("shop/app", round);
  expect(await keys.reconcile("shop/app%1", round)).toEqual({ type: "failed" });
  expect(await keys.reconcile("shop/app%1", round)).toEqual({ type: "done" });
  expect(keys.tracked.all()).toEqual([]);
});

it("works on no object twice at once, though it was said to be gone while it was not", async () => {
  let inside = 0;
  const together: number[] = [];
  const { keys } = loop(
    [object("1"), "absent", object("1")],
    ({ isGone, seen }) => (!isGone && seen.length > 3 ? waits : { type: "run", effects: ["work"] }),
    {
      perform: async (_, { memory }, effect) => {
        inside += memory.isGone ? 0 : 1;
        together.push(inside);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside -= memory.isGone ? 0 : 1;
        return effect;
      },
    },
  );
  await keys.reconcile("shop/app", round);
  await keys.reconcile("shop/app", round);
  const cleanup = keys.reconcile("shop/app%1", round);
  expect(await keys.reconcile("shop/app", round)).toEqual({ type: "done" });
  // The cleanup ends as soon as the object is there again, and leaves it alone.
  expect(await cleanup).toEqual({ type: "done" });
  expect(await keys.reconcile("shop/app%1", round)).toEqual({ type: "done" });
  expect(Math.max(...together)).toBe(1);
  expect(keys.tracked.of("1")).toMatchObject({ isGone: false });
});

it("folds what is answered late into what it was asked for, and not into what is remembered since", async () => {
  const { keys } = loop([object("1"), object("1", "2")], () => waits);
  await keys.reconcile("shop/app", round);
  const former = keys.tracked.of("1");
  if (former === undefined) throw new Error("nothing is remembered");
  await keys.reconcile("shop/app", round);
  keys.fold(round, former, "late");
  expect(former.memory.seen).toEqual(["late"]);
  expect(keys.tracked.of("1")?.memory.seen).toEqual([]);
});

it("tells the watchdog that it gets on after every effect", async () => {
  let beats = 0;
  const { keys } = loop([object("1")], ({ seen }) => (seen.length < 5 ? { type: "run", effects: ["work"] } : waits));
  await keys.reconcile("shop/app", { log: () => {}, heartbeat: () => (beats += 1) });
  expect(beats).toBeGreaterThanOrEqual(5);
});
