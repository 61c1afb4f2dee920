import { expect, it } from "vitest";
import {
  differingFields,
  differingItems,
  firstPaths,
  withServerMutations,
} from "../../../packages/controller/src/core/merge/server-mutations.ts";
import type { JsonObject, KubeObject } from "@janus/types";
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
    "with what it added to a list of which others have a part, and without that",
    { spec: { list: ["a"] } },
    { spec: { list: ["a", "theirs"] } },
    { spec: { list: ["a", "theirs", "injected"] } },
    { spec: { list: ["a", "injected"] } },
  ],
  [
    "with an item that it added to a list, wherever that is, and what it changed in the others",
    { spec: { list: [{ name: "a", image: "a" }, { name: "removed by others" }] } },
    { spec: { list: [{ name: "a", image: "a" }, { name: "theirs" }] } },
    { spec: { list: [{ name: "injected" }, { name: "a", image: "mirror/a" }, { name: "theirs" }] } },
    { spec: { list: [{ name: "injected" }, { name: "a", image: "mirror/a" }, { name: "removed by others" }] } },
  ],
  [
    "without an item that it took out of a list",
    { spec: { list: [{ name: "a" }, { name: "b" }] } },
    { spec: { list: [{ name: "a" }, { name: "b" }, { name: "theirs" }] } },
    { spec: { list: [{ name: "b" }, { name: "theirs" }] } },
    { spec: { list: [{ name: "b" }] } },
  ],
  [
    "with what it added to a list without names",
    { spec: { list: [{ key: "a" }, { key: "a" }] } },
    { spec: { list: [{ key: "a" }, { key: "a" }] } },
    { spec: { list: [{ key: "a" }, { key: "a" }, { key: "injected" }] } },
    { spec: { list: [{ key: "a" }, { key: "a" }, { key: "injected" }] } },
  ],
  [
    "with what it added to a list that only others have",
    {},
    { spec: { list: ["theirs"] } },
    { spec: { list: ["theirs", "injected"] } },
    { spec: { list: ["injected"] } },
  ],
  [
    "as it was, where a list that only others have has another order",
    {},
    { spec: { list: ["theirs", "others"] } },
    { spec: { list: ["others", "theirs"] } },
    {},
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

const named = (...names: readonly string[]): KubeObject => thing({ spec: { list: names.map((name) => ({ name })) } });
const differing = (a: KubeObject, b: KubeObject) => firstPaths(differingItems(a, b));

it("says which items of a list are not as they were", () => {
  expect(differing(named("a", "b"), named("b", "c"))).toEqual([
    ["f:spec", "f:list", 'k:{"name":"a"}'],
    ["f:spec", "f:list", 'k:{"name":"c"}'],
  ]);
  expect(differing(named("a", "b"), named("b", "a"))).toEqual([["f:spec", "f:list"]]);
});
