// Tests when a finished ActionSet is looked at again, and when it is deleted.
import { expect, it } from "vitest";
import { cached, dueAt, turnsOf } from "../../../packages/blueprints/src/core/after-end.ts";

const NOW = Date.parse("2026-01-02T00:00:00Z");
const ended = (status: object, more: object = {}, metadata: object = {}) => ({
  apiVersion: "cr.kanister.io/v1alpha1",
  kind: "ActionSet",
  metadata: { namespace: "shop", name: "run", uid: "u", resourceVersion: "1", ...metadata },
  spec: more,
  status,
});
const LONG_AGO = "2026-01-01T00:00:00Z";

it.each([
  ["one that is running, at once", ended({ state: "running" }), NOW],
  ["one that has ended long ago, never", ended({ state: "complete", completionTime: LONG_AGO }), undefined],
  ["one that has just ended, for its journal", ended({ state: "failed", completionTime: "2026-01-01T23:30:00Z" }), NOW],
  [
    "one with a time to live, when that has passed",
    ended({ state: "complete", completionTime: LONG_AGO }, { ttlSecondsAfterFinished: 3600 }),
    Date.parse("2026-01-01T01:00:00Z"),
  ],
  [
    "one with a label, under Kanister's own definition",
    ended(
      { state: "complete", progress: { lastTransitionTime: LONG_AGO } },
      {},
      { labels: { "janus.io/ttl-seconds-after-finished": "60" } },
    ),
    Date.parse("2026-01-01T00:01:00Z"),
  ],
])("%s, as the cache has it, too", (_, object, at) => {
  expect(dueAt(object, NOW, undefined)).toBe(at);
  expect(dueAt(cached(object), NOW, undefined)).toBe(at);
});

it.each([
  ["one without a time to live, when the default has passed", {}, Date.parse("2026-01-01T01:00:00Z")],
  ["one with artifacts, never: others are made from them", { actions: [{ artifacts: { dump: {} } }] }, undefined],
])("%s, as the cache has it, too", (_, status, at) => {
  const object = ended({ state: "complete", completionTime: LONG_AGO, ...status });
  expect(dueAt(object, NOW, 3600)).toBe(at);
  expect(dueAt(cached(object), NOW, 3600)).toBe(at);
});

it("those that have ended take turns among themselves, whatever their namespace: one that is to begin waits for none of them", () => {
  const groups = ["complete", "failed", "running", "pending"].map((state) =>
    turnsOf("shop/run", cached(ended({ state }))),
  );
  expect(groups).toEqual(["", "", "shop", "shop"]);
  expect(turnsOf("shop/run", undefined)).toBe("shop");
});

it("the cache has nothing that its author may make large", () => {
  const large = "x".repeat(100_000);
  const object = ended(
    { state: large, actions: [{ artifacts: { [large]: {} } }], error: { message: large } },
    { actions: [large], ttlSecondsAfterFinished: large },
    { annotations: { large }, labels: { large }, finalizers: [large] },
  );
  expect(JSON.stringify(cached(object)).length).toBeLessThan(500);
});
