import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { itemsOf } from "../../../packages/controller/src/core/state/resolved-changes.ts";
import { lossOf, readOtherVersions } from "../../../packages/controller/src/core/state/other-versions.ts";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { JsonObject, KubeObject } from "@janus/types";
import { type Answer, change, former, refused, underway } from "./underway.ts";
import { learn } from "./learn.ts";

const inVersions = (resourceVersion: string, fieldsOfV2: JsonObject): KubeObject => {
  const object = former("ConfigMap", "a", { data: { a: "1" } });
  const managedFields = [
    { manager: "person", operation: "Update" as const, apiVersion: "v2", fieldsV1: { "f:data": fieldsOfV2 } },
  ];
  return { ...object, metadata: { ...object.metadata, resourceVersion, managedFields } };
};

it("what a target would lose counts as long as it has it: not once somebody has taken it out", () => {
  const { txn, known } = underway("Preparing", [change("Patch", "a")], { direction: "forward", cursor: 0 });
  const [item] = itemsOf(txn, known);
  if (item === undefined) throw new Error("the Transaction has no change");
  const there = inVersions("1", { "f:a": {}, "f:more": {} });
  const inV2 = { ...there, apiVersion: "v2", data: { a: "1", more: "x" } };
  const answers = new Map([
    ["read-target", E.right(inV2)],
    ["dry-run", E.right({ ...inV2, data: { a: "1" } })],
  ]);
  const answered = (at: typeof known, effect: ApiCall): typeof known => {
    const answer = answers.get(effect.purpose);
    if (answer === undefined) throw new Error(`asked for ${effect.purpose}`);
    return learn({ txn, known: at }, effect, answer);
  };
  const read = readOtherVersions(txn, item, known, there).reduce(answered, known);
  const tried = readOtherVersions(txn, item, read, there).reduce(answered, read);
  expect(lossOf(item, tried, there)?.message).toContain(".data.more in v2");
  const since = inVersions("2", { "f:a": {} });
  expect(readOtherVersions(txn, item, tried, since)).toEqual([]);
  expect(lossOf(item, tried, since)).toBeUndefined();
});

it("a target that may not be read in another version is not taken for the same in it", () => {
  const { txn, known } = underway("Preparing", [change("Patch", "a")], { direction: "forward", cursor: 0 });
  const [item] = itemsOf(txn, known);
  if (item === undefined) throw new Error("the Transaction has no change");
  const there = inVersions("1", { "f:more": {} });
  const [reading] = readOtherVersions(txn, item, known, there);
  const answered = (answer: Answer) =>
    lossOf(item, reading === undefined ? known : learn({ txn, known }, reading, answer), there);
  expect(answered(refused(403, "not today"))?.message).toBe(
    "ConfigMap shop/a cannot be read in v2, so it is unknown what a write in v1 loses: not today",
  );
  expect(answered(refused(404))).toBeUndefined();
});
