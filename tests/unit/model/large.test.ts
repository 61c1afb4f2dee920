import { emptyStatus, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { atRest } from "../../../packages/controller/src/core/state/idle-memory.ts";
import { decide } from "../../../packages/controller/src/core/decide.ts";
import type { Effect } from "../../../packages/controller/src/core/state/effect.ts";
import { type Observations, noObservations } from "../../../packages/controller/src/core/state/observations.ts";
import { keyOf, respond, type World } from "./api-server.ts";
import { transactionOf } from "./moment.ts";
import { OWN, SETTINGS, WIDGETS } from "./scenario.ts";
import { type KubeObject, sizeOf } from "@janus/types";
import { found as foundBy, learn } from "../core/learn.ts";
import type { Finding } from "../../../packages/controller/src/core/state/happened.ts";

const COUNT = 24;
const BYTES = 400_000;
const MiB = 2 ** 20;

const keyOfTarget = (name: string): string => keyOf({ resource: WIDGETS, namespace: "shop", name });
const text = (bytes: number, n: number): string => `${n} `.padEnd(bytes, "x");

const object = (apiVersion: string, kind: string, name: string, fields: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: "shop", uid: `u-${name}`, resourceVersion: "1" },
  ...fields,
});

/** @param owned whether each target but the first is owned by the first */
const world = (bytes: number, owned: boolean): World => {
  const transaction = {
    metadata: { name: "txn", namespace: "shop", uid: "u-txn", resourceVersion: "1", generation: 1 },
    spec: {
      serviceAccountName: "deploy",
      lockTimeout: 30_000,
      timeout: 3_600_000,
      lifecycle: "Published" as const,
      deletionPolicy: "Release" as const,
      changes: Array.from({ length: COUNT }, (_, n) => {
        const target = { apiVersion: "example.com/v1", kind: "Widget", name: `t${n}` };
        return owned && n === 0
          ? ({ type: "Delete", target } as const)
          : ({ type: "Patch", target, content: { data: { ours: "new" } } } as const);
      }),
    },
    status: emptyStatus,
  };
  const targets = Array.from(
    { length: COUNT },
    (_, n) =>
      [
        keyOfTarget(`t${n}`),
        object("example.com/v1", "Widget", `t${n}`, { data: { theirs: text(bytes, n), ours: "old" } }),
      ] as const,
  );
  return {
    objects: new Map([
      [OWN, Transaction.encode(transaction) as KubeObject],
      ["ServiceAccount shop/deploy", object("v1", "ServiceAccount", "deploy")],
      ["Namespace /shop", object("v1", "Namespace", "shop")],
      ...targets,
    ]),
    writes: new Map([OWN, ...targets.map(([key]) => key)].map((key) => [key, 1])),
  };
};

/** What is known of targets, in bytes. */
const held = ({ changes, storeData }: Observations): number =>
  [
    ...[...changes.values()].flatMap(({ target, before, rollback }) => [
      target?.object ?? {},
      before ?? {},
      rollback?.goal ?? {},
    ]),
    ...[...storeData.values()].map((read) => (read.type === "data" ? Object.fromEntries(read.data) : {})),
  ].reduce<number>((sum, object) => sum + sizeOf(object), 0);

/** Carries everything out, one request after the other. The last change is refused, where it is to be rolled back. */
const carriedOut = (start: World, isRefused: boolean, restartedAfter = Number.POSITIVE_INFINITY) => {
  let world = start;
  let now = Date.parse("2026-01-01T00:00:00Z");
  let known = noObservations(now);
  let most = 0;
  const count = new Map<string, number>();
  const own = () => transactionOf(world.objects.get(OWN) ?? { apiVersion: "", kind: "", metadata: {} });
  let txn = own();
  const found = (finding: Finding) => foundBy({ txn, known }, finding, now);
  const perform = (effect: Effect): void => {
    if (effect.purpose === "discover") known = found({ effect, found: { resource: WIDGETS } });
    else if (effect.purpose === "find-owned") known = found({ effect, found: { owned: [], unlisted: [] } });
    else if (effect.purpose === "find-pods") known = found({ effect, found: [] });
    else if (effect.purpose === "find-events") known = found({ effect, found: [] });
    else {
      count.set(effect.purpose, (count.get(effect.purpose) ?? 0) + 1);
      const isLast = effect.purpose === "change" && effect.item === COUNT - 1;
      const by = effect.as;
      const reply =
        isRefused && isLast
          ? {
              world,
              answer: E.left({ type: "refused", code: 422, reason: "Invalid", message: "no", causes: [] } as const),
            }
          : respond(world, { call: effect.call, dryRun: effect.dryRun === true, by });
      world = reply.world;
      txn = own();
      known = learn({ txn, known }, effect, reply.answer, now);
    }
    most = Math.max(most, held(known));
  };
  for (let steps = 0; steps < 20 * COUNT + 100; steps += 1) {
    if (steps === restartedAfter) known = noObservations(now);
    const step = decide({
      txn,
      known,
      now,
      settings: SETTINGS,
      queuedBefore: () => undefined,
      nextWaiter: () => undefined,
    });
    if (step.type === "done") return { world, txn, most, count };
    if (step.type === "wait") {
      now = step.until;
      known = atRest({ txn, known }).known;
    } else for (const effect of step.effects) perform(effect);
  }
  throw new Error(`it does not end: ${txn.status.phase}`);
};

const targetsOf = ({ objects }: World): readonly unknown[] =>
  Array.from({ length: COUNT }, (_, n) => objects.get(keyOfTarget(`t${n}`))?.["data"]);

describe("a Transaction over large targets", () => {
  it("is committed, and holds few of them at a time", () => {
    const { txn, most, count } = carriedOut(world(BYTES, false), false);
    expect(txn.status.phase).toBe("Committed");
    expect(count.get("store")).toBeLessThanOrEqual(COUNT);
    expect(most).toBeLessThan(9 * MiB);
  });

  it.each([Number.POSITIVE_INFINITY, 70])(
    "is rolled back from its snapshots, exactly, and holds few at a time, restarted after %s steps",
    (restartedAfter) => {
      const start = world(BYTES, false);
      const { txn, most, world: end } = carriedOut(start, true, restartedAfter);
      expect(txn.status.phase).toBe("RolledBack");
      expect(targetsOf(end)).toEqual(targetsOf(start));
      expect(most).toBeLessThan(9 * MiB);
    },
  );

  it("creates an owner again without holding what it does not own, also when restarted", () => {
    const start = world(BYTES, true);
    const { txn, most, world: end } = carriedOut(start, true, 70);
    expect(txn.status.phase).toBe("RolledBack");
    expect(targetsOf(end)).toEqual(targetsOf(start));
    expect(most).toBeLessThan(9 * MiB);
  });

  it("reads no snapshot where the targets are small", () => {
    const { txn, count } = carriedOut(world(1000, false), true);
    expect(txn.status.phase).toBe("RolledBack");
    expect(count.get("read-store") ?? 0).toBe(0);
    expect(count.get("store")).toBe(1);
  });
});
