import type { Change } from "@janus/api";
import { describe, expect, it } from "vitest";
import { dependents, findOwned } from "../../../packages/controller/src/core/preflight/dependents.ts";
import { type Observations, noObservations } from "../../../packages/controller/src/core/state/observations.ts";
import { configMaps } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";
import { seen } from "./underway.ts";
import { transaction } from "./transaction.ts";
import type { Owned } from "../../../packages/controller/src/core/state/listings.ts";

const deletion = (name: string): Change => ({ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name } });

/** ConfigMaps, each under its name as its uid. */
const known = (deleted: readonly string[], owned: readonly Owned[]): Observations => ({
  ...noObservations(0),
  resources: new Map([["v1/ConfigMap", configMaps]]),
  changes: new Map(
    deleted.map((name, index) => [
      index,
      { target: seen({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, uid: name } }) },
    ]),
  ),
  owned: new Map([["shop", owned]]),
});

const of = (name: string, ...owners: readonly string[]): Owned => ({
  kind: "ConfigMap",
  namespace: "shop",
  name,
  uid: name,
  owners,
});

const lost = (deleted: readonly string[], owned: readonly Owned[]) =>
  Object.fromEntries(dependents(transaction(deleted.map(deletion)), known(deleted, owned)));

/** An Update of b that gives it these owners. */
const update = (...owners: readonly string[]): Change => ({
  type: "Update",
  target: { apiVersion: "v1", kind: "ConfigMap", name: "b" },
  content: { metadata: { ownerReferences: owners.map((uid) => ({ uid })) } },
});

const lostAfter = (change: Change) =>
  Object.fromEntries(
    dependents(transaction([change, deletion("a")]), known(["b", "a"], [of("b", "a"), of("c", "b"), of("d", "a")])),
  );

describe("what the garbage collector takes with the targets of deletions", () => {
  it("is what they own, and what that owns, in whatever order it was found", () => {
    expect(lost(["a"], [of("c", "b"), of("b", "a"), of("other", "z")])).toEqual({ 0: "ConfigMap b, ConfigMap c" });
  });

  it("is not what another client owns too, nor what that owns", () => {
    expect(lost(["a"], [of("b", "a", "living"), of("c", "b")])).toEqual({});
  });

  it("goes with the last of its owners: as long as that is not deleted it is there", () => {
    expect(lost(["a", "b"], [of("c", "a", "b")])).toEqual({ 1: "ConfigMap c" });
  });

  it("is not what the Transaction deletes itself, which comes back, but what goes with that", () => {
    expect(lost(["b", "a"], [of("b", "a"), of("c", "b")])).toEqual({ 0: "ConfigMap c" });
  });

  it("is what goes with a target that goes with its own owner, before its own deletion comes", () => {
    expect(lost(["a", "b"], [of("b", "a"), of("c", "b")])).toEqual({ 0: "ConfigMap c" });
  });

  it("is not what an Update before that takes from its owner, nor what that owns", () => {
    expect(lostAfter(update())).toEqual({ 1: "ConfigMap d" });
    expect(lostAfter(update("living"))).toEqual({ 1: "ConfigMap d" });
    expect(lostAfter(update("a", "living"))).toEqual({ 1: "ConfigMap d" });
  });

  it("comes to an end where objects own each other", () => {
    expect(lost(["a"], [of("b", "c"), of("c", "b"), of("d", "a", "d")])).toEqual({});
  });

  it("names the first, and says how many more there are", () => {
    const many = Array.from({ length: 40 }, (_, index) => of(`c${index}`, "a"));
    expect(lost(["a"], many)[0]).toBe(
      "ConfigMap c0, ConfigMap c1, ConfigMap c2, ConfigMap c3, ConfigMap c4 and 35 more",
    );
  });

  it("tells the namespace of what is in another one", () => {
    expect(lost(["a"], [{ ...of("b", "a"), namespace: "elsewhere" }])).toEqual({ 0: "ConfigMap elsewhere/b" });
  });
});

const inOf = (namespace: string): Change => ({
  type: "Delete",
  target: { apiVersion: "v1", kind: "ConfigMap", name: "a", namespace },
});

describe("what targets of deletions own is looked for", () => {
  it("only in namespaces in which one of them was found", () => {
    const txn = transaction([inOf("mine"), inOf("foreign"), inOf("unread")]);
    const found = known(["a"], []).changes;
    const changes = new Map([...found, [1, { target: { type: "absent", at: 0 } }] as const]);
    const asked = findOwned(txn, { ...known([], []), owned: new Map(), changes }, 0);
    expect(asked.map(({ namespace }) => namespace)).toEqual(["mine"]);
  });
});
