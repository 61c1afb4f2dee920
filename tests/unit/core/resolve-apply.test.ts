import type { Change } from "@janus/api";
import { decide, type Observations, type ReconcileContext, resolvedTargets } from "@janus/controller";
import { describe, expect, it } from "vitest";
import { resolvedChange } from "../../../packages/controller/src/core/state/resolve-apply.ts";
import { change, former, observing, seen, underway } from "./underway.ts";

const apply = (name: string, kind?: string): Change => {
  const { target } = change("Patch", name, kind);
  return { type: "Apply", target, content: { data: { a: "new" } } };
};
const preparing = (...changes: readonly Change[]): ReconcileContext => {
  const at = underway("Preparing", changes, { direction: "forward", cursor: 0 }, { serviceAccount: "there" });
  const items = changes.map(() => ({ state: { type: "untouched" as const } }));
  return { ...at, txn: { ...at.txn, status: { ...at.txn.status, items } } };
};
const typeIn = ({ txn, known }: ReconcileContext, index = 0): string | undefined =>
  resolvedChange(txn, known, index)?.type;
const purposes = (context: ReconcileContext): readonly string[] => {
  const step = decide(context);
  return step.type === "run" ? step.effects.map((effect) => effect.purpose) : [];
};

describe("what an Apply does", () => {
  const start = preparing(apply("web"));

  it("follows from its target as it was read last, and from the first read until then", () => {
    expect(typeIn(observing(start, { 0: { preflight: { existedAtFirst: true } } }))).toBe("Patch");
    expect(typeIn(observing(start, { 0: { preflight: { existedAtFirst: false } } }))).toBe("Create");
    const seenSince = { preflight: { existedAtFirst: false }, target: seen(former("ConfigMap", "web")) };
    expect(typeIn(observing(start, { 0: seenSince }))).toBe("Patch");
    expect(typeIn(observing(start, { 0: { preflight: { existedAtFirst: true }, target: seen(undefined) } }))).toBe(
      "Create",
    );
  });

  it("is what was recorded when it was prepared, whatever the target shows", () => {
    const at = underway("Committing", [apply("web")], { direction: "forward", cursor: 0 });
    const [item] = at.txn.status.items;
    const existed = item !== undefined && "before" in item.state && item.state.before.existed;
    const other = existed ? undefined : former("ConfigMap", "web");
    expect(typeIn(observing(at, { 0: { target: seen(other) } }))).toBe(existed ? "Patch" : "Create");
  });

  it("is asked for before the permissions, which depend on it, and only once", () => {
    expect(purposes(start)).toEqual(["read-target"]);
    expect(purposes(observing(start, { 0: { preflight: { existedAtFirst: false } } }))).toEqual(["review", "review"]);
  });

  it("leaves the other types as they are", () => {
    const all = preparing(change("Create", "a"), change("Update", "b"), change("Patch", "c"), change("Delete", "d"));
    expect([0, 1, 2, 3].map((index) => typeIn(all, index))).toEqual(["Create", "Update", "Patch", "Delete"]);
  });
});

it("serves the kind of a CustomResourceDefinition that it creates to later changes", () => {
  const crd: Change = {
    type: "Apply",
    target: { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: "things.example.com" },
    content: {
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { kind: "Thing", plural: "things" },
        versions: [{ name: "v1" }],
      },
    },
  };
  const thing: Change = {
    type: "Apply",
    target: { apiVersion: "example.com/v1", kind: "Thing", name: "one" },
    content: {},
  };
  const { txn, known } = preparing(crd, thing);
  const unserved: Observations = { ...known, resources: new Map([...known.resources, ["example.com/v1/Thing", null]]) };
  expect(resolvedTargets(txn, unserved).get(1)).toMatchObject({ name: "one", namespace: "shop" });
});
