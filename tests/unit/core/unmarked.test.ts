import { type Change, fieldManager } from "@janus/api";
import { describe, expect, it } from "vitest";
import { changeBody } from "../../../packages/controller/src/core/body.ts";
import type { KubeObject } from "../../../packages/controller/src/core/object.ts";
import { restoration } from "../../../packages/controller/src/core/restore.ts";
import { apply, post, put } from "./server.ts";
import { author, manager, place, thing } from "./thing.ts";

const target = { apiVersion: "v1", kind: "Thing", name: "thing" };
const patch: Change = { type: "Patch", target, content: { data: { a: "2" } } };
const update: Change = { type: "Update", target, content: { data: { a: "2" } } };

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

/** PUTs until nothing is to be put back any more. */
const putBack = (change: Change, live: KubeObject): { readonly object: KubeObject; readonly conflicts: number } => {
  const { put: body, conflicts } = restoration(change, place, before, live, author);
  return body === undefined
    ? { object: live, conflicts: conflicts.length }
    : putBack(change, put(live, body, fieldManager(author)));
};

describe.each([
  ["Patch", patch, patched],
  ["Update", update, updated],
] as const)("a %s that was made, and whose mark somebody has taken away since,", (_, change, made) => {
  it.each([
    ["all of managedFields was cleared", cleared(made)],
    ["only our entry was taken out", without(made)],
  ])("is put back all the same: %s", (_, live) => {
    expect(putBack(change, live)).toMatchObject({ object: { data: { a: "1", b: "1" } }, conflicts: 0 });
  });

  it("is a conflict where somebody is booked for its fields since", () => {
    const live = apply(cleared(made), { ...made, data: { z: "1" } }, "applier");
    expect(putBack(change, live).conflicts).toBeGreaterThan(0);
  });
});
