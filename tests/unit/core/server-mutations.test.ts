import { expect, it } from "vitest";
import {
  differingFields,
  firstPaths,
  withServerMutations,
} from "../../../packages/controller/src/core/merge/server-mutations.ts";
import type { JsonObject } from "@janus/types";
import { place, thing } from "./thing.ts";

const annotated = (annotations: JsonObject, fields: JsonObject = {}): JsonObject => ({
  ...fields,
  metadata: { annotations },
});

it.each<readonly [string, JsonObject, JsonObject, JsonObject, JsonObject]>([
  [
    "as it was, where all that was sent is there",
    { spec: { a: "1" } },
    { spec: { a: "1", theirs: "2" } },
    { spec: { a: "1", theirs: "2" } },
    { spec: { a: "1" } },
  ],
  [
    "what the API server made of it, where that is something else",
    annotated({ generation: "1", by: "gitops" }),
    annotated({ generation: "1", by: "gitops", theirs: "x" }),
    annotated({ generation: "3", by: "janus", theirs: "x" }),
    annotated({ generation: "3", by: "janus" }),
  ],
  [
    "with what the API server added",
    { spec: { a: "1" } },
    { spec: { a: "1" } },
    annotated({ by: "janus" }, { spec: { a: "1" } }),
    annotated({ by: "janus" }, { spec: { a: "1" } }),
  ],
  [
    "without what it took out",
    { spec: { a: "1", b: "1" } },
    { spec: { a: "1", b: "1" } },
    { spec: { a: "1" } },
    { spec: { a: "1" } },
  ],
  ["as it was, where what is left of it is empty", { data: { a: "1" } }, { data: {} }, {}, { data: { a: "1" } }],
  [
    "with the item of a list that it changed",
    { spec: { list: [{ image: "a" }, { image: "b" }] } },
    { spec: { list: [{ image: "a" }, { image: "b" }] } },
    { spec: { list: [{ image: "a" }, { image: "mirror/b" }] } },
    { spec: { list: [{ image: "a" }, { image: "mirror/b" }] } },
  ],
  [
    "as it was in a list of which others have a part",
    { spec: { list: ["a"] } },
    { spec: { list: ["a", "theirs"] } },
    { spec: { list: ["a", "theirs", "injected"] } },
    { spec: { list: ["a"] } },
  ],
])("an object can be rolled back %s", (_, goal, sent, got, expected) => {
  expect(withServerMutations(thing(goal), thing(sent), thing(got), place)).toEqual(thing(expected));
});

it("says where that is not as it was", () => {
  const fields = differingFields(
    thing(annotated({ a: "1" }, { spec: { x: [1] } })),
    thing(annotated({ b: "1" }, { spec: { x: [2] } })),
  );
  expect(firstPaths(fields)).toEqual([
    ["f:spec", "f:x"],
    ["f:metadata", "f:annotations", "f:a"],
    ["f:metadata", "f:annotations", "f:b"],
  ]);
});
