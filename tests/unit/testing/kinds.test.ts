import { simulate, type SimulatedObject } from "@janus/testing";
import { describe, expect, it } from "vitest";
import { LIVE, OTHER, transactionOf } from "./shop.ts";

const DEFINITION: SimulatedObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Cluster",
    names: { kind: "Gadget", plural: "gadgets" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["id"],
                    items: { type: "object" },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
const GADGET = { apiVersion: "example.com/v1", kind: "Gadget", name: "one" };

describe("a custom kind", () => {
  const live: SimulatedObject = {
    apiVersion: "example.com/v1",
    kind: "Gadget",
    metadata: { name: "one" },
    spec: { parts: [{ id: 1, size: 1 }, { id: 2 }] },
  };
  const transaction = transactionOf([
    { type: "Patch", target: GADGET, content: { spec: { parts: [{ id: 1, size: 2 }] } } },
    { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "last" }, content: {} },
  ]);

  it("is merged as its CustomResourceDefinition says", () => {
    const { phase, objects } = simulate(transaction, [live, DEFINITION]);
    expect(phase).toBe("Committed");
    expect(objects[0]).toMatchObject({ spec: { parts: [{ id: 1, size: 2 }, { id: 2 }] } });
  });

  it("has lists that are replaced as a whole without one", () => {
    expect(simulate(transaction, [live]).objects[0]).toMatchObject({ spec: { parts: [{ id: 1, size: 2 }] } });
  });

  it("may be created by the Transaction that has an object of it", () => {
    const { apiVersion, kind, metadata, ...content } = DEFINITION;
    const both = transactionOf([
      {
        type: "Create",
        target: { apiVersion, kind, name: metadata.name },
        content,
        waitFor: ["condition=Established"],
      },
      { type: "Create", target: GADGET, content: { spec: {} } },
      { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "last" }, content: {} },
    ]);
    expect(simulate(both)).toMatchObject({ phase: "Committed", applied: [0, 1, 2] });
    expect(simulate(both, [], { failAt: 2 })).toMatchObject({ phase: "RolledBack", rolledBack: [1, 0], objects: [] });
  });

  it("of a definition in the Transaction can be edited, and stay unready", () => {
    const { apiVersion, kind, metadata, ...content } = DEFINITION;
    const both = transactionOf([
      { type: "Create", target: { apiVersion, kind, name: metadata.name }, content },
      { type: "Create", target: GADGET, content: { spec: {} }, waitFor: ["condition=Ready"] },
      { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "last" }, content: {} },
    ]);
    expect(simulate(both, [], { notReady: [GADGET] })).toMatchObject({ phase: "RolledBack", applied: [0, 1] });
    const edits = [{ before: 2, target: GADGET, patch: { spec: { size: 3 } } }];
    expect(simulate(both, [], { edits }).objects[1]).toMatchObject({ kind: "Gadget", spec: { size: 3 } });
  });
});

it("a Namespace and what is in it are created and rolled back together", () => {
  const transaction = transactionOf([
    { type: "Create", target: { apiVersion: "v1", kind: "Namespace", name: "fresh" }, content: {} },
    { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "in", namespace: "fresh" }, content: {} },
    { type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name: "last" }, content: {} },
  ]);
  expect(simulate(transaction)).toMatchObject({ phase: "Committed", applied: [0, 1, 2] });
  expect(simulate(transaction, [], { failAt: 2 })).toMatchObject({
    phase: "RolledBack",
    rolledBack: [1, 0],
    objects: [],
  });
});

it("takes what kubectl prints of several objects, and of single ones with all that the API server has set", () => {
  const list = { apiVersion: "v1", kind: "List", metadata: { name: "" }, items: [...LIVE, OTHER] };
  const printed = {
    ...OTHER,
    metadata: {
      ...OTHER.metadata,
      name: "more",
      uid: "u",
      resourceVersion: "7",
      creationTimestamp: "2025-01-01T00:00:00Z",
    },
  };
  const target = { apiVersion: "v1", kind: "ConfigMap", name: "more" };
  const transaction = transactionOf([
    { type: "Patch", target, content: { data: { a: "3" } }, resourceVersion: "7" },
    { type: "Delete", target: { ...target, name: "other" } },
  ]);
  expect(simulate(transaction, [list, printed]).phase).toBe("Committed");
  const { phase, objects, before } = simulate(transaction, [list, printed], { failAt: 1 });
  expect(phase).toBe("RolledBack");
  expect(objects).toEqual(before);
});
