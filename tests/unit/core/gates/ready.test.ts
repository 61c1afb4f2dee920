import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { notYet } from "../../../../packages/controller/src/core/gates/gate-state.ts";
import { ready } from "../../../../packages/controller/src/core/gates/ready.ts";
import { arbitraryJson } from "../arbitrary-json.ts";
import { lives } from "./lives.ts";

const moments = Object.entries(lives).flatMap(([kind, all]) => all.map((one) => ({ kind, ...one })));

it.each(moments)("$kind that $moment: $state.type", ({ object, state }) => {
  expect(ready(object)).toEqual(state);
});

it.each(moments)("$kind that $moment, and is being deleted: waiting", ({ object }) => {
  const metadata = { ...object.metadata, deletionTimestamp: "2026-01-01T12:00:00Z" };
  expect(ready({ ...object, metadata })).toEqual(notYet("is being deleted"));
});

describe("a kind", () => {
  const failedPod = { metadata: { name: "web" }, status: { phase: "Failed" } };

  it("is that of its group: a custom resource called Pod is no Pod", () => {
    expect(ready({ ...failedPod, apiVersion: "v1", kind: "Pod" })).toMatchObject({ type: "failed" });
    expect(ready({ ...failedPod, apiVersion: "example.com/v1", kind: "Pod" })).toEqual({ type: "met" });
  });

  it.each(["constructor", "__proto__", "toString"])("may be called %s", (kind) => {
    expect(ready({ ...failedPod, apiVersion: "v1", kind })).toEqual({ type: "met" });
  });
});

it("whatever the object is, it is ready, not ready yet or never", () => {
  const apiVersions = ["v1", "apps/v1", "batch/v1", "apiextensions.k8s.io/v1", "example.com/v1"];
  const object = fc.record({
    apiVersion: fc.constantFrom(...apiVersions),
    kind: fc.constantFrom(...Object.keys(lives)),
    metadata: fc.oneof(fc.constant({}), arbitraryJson),
    spec: arbitraryJson,
    status: fc.oneof(
      arbitraryJson,
      fc.record({
        phase: arbitraryJson,
        conditions: fc.oneof(arbitraryJson, fc.array(fc.record({ type: fc.constant("Ready"), status: arbitraryJson }))),
        containerStatuses: fc.oneof(arbitraryJson, fc.array(fc.record({ name: arbitraryJson, state: arbitraryJson }))),
      }),
    ),
  });
  fc.assert(
    fc.property(object, (object) => {
      expect(["met", "waiting", "failed"]).toContain(ready(object as Parameters<typeof ready>[0]).type);
    }),
    { numRuns: 500 },
  );
});
