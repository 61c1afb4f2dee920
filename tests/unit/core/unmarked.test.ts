import { type ResolvedChange, fieldManager } from "@janus/api";
import { describe, expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/merge/write-body.ts";
import type { JsonObject, KubeObject } from "@janus/types";
import { restoration } from "../../../packages/controller/src/core/merge/restore-update.ts";
import { apply, post, put } from "./thing-server.ts";
import { author, manager, place, thing } from "./thing.ts";

const target = { apiVersion: "v1", kind: "Thing", name: "thing" };
const patch: ResolvedChange = { type: "Patch", target, content: { data: { a: "2" } } };
const update: ResolvedChange = { type: "Update", target, content: { data: { a: "2" } } };

const before = post(thing({ data: { a: "1", b: "1" } }), "kubectl");
const patched = apply(before, changeBody(patch, place, before, author), manager);
const updated = put(before, changeBody(update, place, before, author), manager);

const cleared = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, managedFields: [] },
});
const without = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    managedFields: (object.metadata.managedFields ?? []).filter((entry) => entry.manager !== manager),
  },
});

/** PUTs until nothing is to be rolled back any more. */
const restored = (
  change: ResolvedChange,
  live: KubeObject,
): { readonly object: KubeObject; readonly conflicts: number } => {
  const { put: body, conflicts } = restoration(change, place, before, live, author);
  return body === undefined
    ? { object: live, conflicts: conflicts.length }
    : restored(change, put(live, body, fieldManager(author)));
};

describe.each([
  ["Patch", patch, patched],
  ["Update", update, updated],
] as const)("a %s that was made, and whose mark somebody has taken away since,", (_, change, made) => {
  it.each([
    ["all of managedFields was cleared", cleared(made)],
    ["only our entry was taken out", without(made)],
  ])("is rolled back all the same: %s", (_, live) => {
    expect(restored(change, live)).toMatchObject({ object: { data: { a: "1", b: "1" } }, conflicts: 0 });
  });

  it("is a conflict where somebody is booked for its fields since", () => {
    const live = apply(cleared(made), { ...made, data: { z: "1" } }, "applier");
    expect(restored(change, live).conflicts).toBeGreaterThan(0);
  });
});

const edited = (fields: JsonObject): KubeObject => cleared(put(patched, { ...patched, ...fields }, "person"));

describe("a Patch that was made, of an object whose managedFields others have cleared since,", () => {
  it.each<readonly [string, JsonObject, JsonObject]>([
    ["a key that they changed", { data: { a: "2", b: "3" } }, { data: { a: "1", b: "3" } }],
    ["a key that they added", { data: { a: "2", b: "1", c: "3" } }, { data: { a: "1", b: "1", c: "3" } }],
    ["a key that they took out", { data: { a: "2" } }, { data: { a: "1" } }],
    [
      "a field of which nothing was there before",
      { spec: { replicas: 3, containers: [{ name: "web", image: "v1" }] } },
      { data: { a: "1", b: "1" }, spec: { replicas: 3, containers: [{ name: "web", image: "v1" }] } },
    ],
  ])("is rolled back without modifying %s", (_, fields, expected) => {
    const { object, conflicts } = restored(patch, edited(fields));
    const { apiVersion: _a, kind: _k, metadata: _m, ...rest } = object;
    expect({ rest, conflicts }).toEqual({ rest: expected, conflicts: 0 });
  });

  it("leaves theirs beside what the Patch was the first to set in a map", () => {
    const labelling: ResolvedChange = { type: "Patch", target, content: { metadata: { labels: { ours: "1" } } } };
    const labelled = apply(before, changeBody(labelling, place, before, author), manager);
    const labels = { ours: "1", theirs: "1" };
    const live = cleared(put(labelled, { ...labelled, metadata: { ...labelled.metadata, labels } }, "person"));
    const { object, conflicts } = restored(labelling, live);
    expect({ labels: object.metadata.labels, conflicts }).toEqual({ labels: { theirs: "1" }, conflicts: 0 });
  });

  it("is a conflict where they have changed its own field", () => {
    const { object, conflicts } = restored(patch, edited({ data: { a: "3", b: "3" } }));
    expect({ data: object["data"], conflicts }).toEqual({ data: { a: "3", b: "3" }, conflicts: 1 });
  });
});

it("an Update whose managedFields others have cleared is rolled back without what it only repeated, and they have changed", () => {
  const repeating: ResolvedChange = { ...update, content: { data: { a: "2", b: "1" } } };
  const made = put(before, changeBody(repeating, place, before, author), manager);
  const live = cleared(put(made, { ...made, data: { a: "2", b: "3" } }, "person"));
  expect(restored(repeating, live)).toMatchObject({ object: { data: { a: "1", b: "3" } }, conflicts: 0 });
});
