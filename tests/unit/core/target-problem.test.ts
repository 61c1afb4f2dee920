import type { Change } from "@janus/api";
import { noObservations } from "@janus/controller";
import { expect, it } from "vitest";
import { discoveries, targetProblem } from "../../../packages/controller/src/core/state/target-resolution.ts";
import { transaction } from "./transaction.ts";
import { found } from "./learn.ts";

const gadget = (apiVersion: string): Change => ({
  type: "Create",
  target: { apiVersion, kind: "Gadget", name: "a" },
  content: {},
});

const crd: Change = {
  type: "Apply",
  target: { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: "gadgets.example.com" },
  content: {
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Gadget", plural: "gadgets" },
      versions: [{ name: "v1" }, { name: "v2" }],
    },
  },
};

const as = (kind: string, ...apiVersions: readonly string[]) => apiVersions.map((apiVersion) => ({ apiVersion, kind }));

/** What is said of the last change, whose kind, or one like it, is served so. */
const problem = (changes: readonly Change[], served: ReturnType<typeof as>): string | undefined => {
  const txn = transaction(changes);
  const known = discoveries(txn, noObservations(0)).reduce(
    (known, effect) => found({ txn, known }, { effect, found: { others: served } }),
    noObservations(0),
  );
  return targetProblem(txn, known, changes.length - 1);
};

const said = (apiVersion: string, what: string): string =>
  `the API server does not serve Gadget in ${apiVersion}: ${what}`;
const DEFINE =
  "correct the target, or apply what defines it first, in a Transaction of its own unless that is its CustomResourceDefinition";

it.each([
  [
    "where it is served",
    [gadget("old.io/v1")],
    as("Gadget", "new.io/v1", "newer.io/v1"),
    said("old.io/v1", "use new.io/v1 or newer.io/v1"),
  ],
  [
    "the one that differs only by case",
    [gadget("example.com/v1")],
    as("GadGet", "example.com/v1"),
    said("example.com/v1", "did you mean GadGet in example.com/v1?"),
  ],
  [
    "where an earlier change defines it",
    [crd, gadget("example.com/v3")],
    [],
    said("example.com/v3", "use example.com/v1 or example.com/v2"),
  ],
  ["what defines it, if nothing does", [gadget("old.io/v1")], [], said("old.io/v1", DEFINE)],
  ["nothing, if an earlier change defines it so", [crd, gadget("example.com/v2")], [], undefined],
])("of a kind that is not served names %s", (_, changes, served, expected) => {
  expect(problem(changes, served)).toBe(expected);
});

/** Each kind, and whether it is asked for where else it is served. */
const asks = (changes: readonly Change[]) =>
  discoveries(transaction(changes), noObservations(0)).map(({ kind, isMistake = false }) => [kind, isMistake]);

it("looks for other versions only of what no change defines", () => {
  expect(asks([crd, gadget("example.com/v1")])).toEqual([
    ["CustomResourceDefinition", true],
    ["Gadget", false],
  ]);
  expect(asks([gadget("example.com/v1")])).toEqual([["Gadget", true]]);
});
