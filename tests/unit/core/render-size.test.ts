import { type Change, MAX_CHANGES, Render, verbsOf } from "@janus/api";
import { describe, expect, it } from "vitest";
import { configMaps } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import { render } from "../../../packages/controller/src/core/preflight/render.ts";
import { RENDER_BYTES } from "../../../packages/controller/src/core/preflight/spec-problems.ts";
import {
  type ChangeObservations,
  noObservations,
  type Observations,
} from "../../../packages/controller/src/core/state/observations.ts";
import type { Trial } from "../../../packages/controller/src/core/state/preflight-observations.ts";
import { transaction } from "./transaction.ts";

const VERSION = "12345678901234567890";
const VALUE = '"'.repeat(250);

const observed = (n: number, trial: Trial): ChangeObservations => ({
  target: {
    type: "outline",
    at: 0,
    object: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `config-${n}`, uid: `${n}`, resourceVersion: VERSION },
    },
  },
  preflight: { permissions: new Map(verbsOf("Patch").map((verb) => [verb, "allowed"])), trial },
});

/** What is recorded of so many changes, of which each was tried with this outcome. */
const rendered = (count: number, trial: Omit<Trial, "of">): Render => {
  const changes = Array.from({ length: count }, (_, n): Change => {
    const target = { apiVersion: "v1", kind: "ConfigMap", name: `config-${n}` };
    return { type: "Patch", target, content: { data: {} } };
  });
  const known: Observations = {
    ...noObservations(0),
    serviceAccount: "there",
    resources: new Map([["v1/ConfigMap", configMaps]]),
    changes: new Map(changes.map((_, n) => [n, observed(n, { ...trial, of: VERSION })])),
  };
  const made = render({
    txn: transaction(changes),
    known,
    now: 0,
    settings: { controllerNamespace: "", writeTimeout: 0, margin: 0, recoveryDelay: 0 },
    queuedBefore: () => undefined,
    nextWaiter: () => undefined,
  });
  if (made.type !== "rendered") throw new Error(`${made.type} is needed still`);
  return { ...made.render, observedGeneration: 1, renderedAt: "2026-01-01T00:00:00Z" };
};

const bytes = (render: Render): number => new TextEncoder().encode(JSON.stringify(Render.encode(render))).length;

const large = {
  result: "Change",
  diff: Array.from({ length: 30 }, (_, n) => ({ path: `.data.field-${n}`, before: VALUE, after: VALUE })),
  more: 100,
  hash: "0".repeat(64),
  bytes: 1000,
} as const;

describe("a render", () => {
  it.each([1, 20, MAX_CHANGES])("of %i changes, each with large differences, fits into the status", (count) => {
    const made = rendered(count, { problems: [], shown: large });
    expect(bytes(made)).toBeLessThanOrEqual(RENDER_BYTES);
    expect(made.changes).toHaveLength(count);
    for (const { diff = [], more = 0 } of made.changes ?? []) expect(diff.length + more).toBe(130);
  });

  it.each([1, 20, MAX_CHANGES])("of %i changes, each with many problems, fits into the status", (count) => {
    const made = rendered(count, { problems: Array.from({ length: 20 }, () => VALUE) });
    expect(made.result).toBe("Problems");
    expect(made.message).toContain("more");
    expect(bytes(made)).toBeLessThanOrEqual(RENDER_BYTES);
  });

  it("shows all differences while there is room", () => {
    const few = { ...large, diff: large.diff.slice(0, 3), more: 0 };
    expect(
      rendered(5, { problems: [], shown: few }).changes?.every(
        ({ diff, more }) => diff?.length === 3 && more === undefined,
      ),
    ).toBe(true);
  });
});
