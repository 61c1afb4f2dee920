import { inOrder, kindOrder } from "@janus/authoring";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

interface Numbered {
  readonly id: number;
  readonly rank: number;
  readonly after: readonly number[];
}

const arbitrary = fc
  .array(fc.record({ rank: fc.integer({ min: 0, max: 3 }), after: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }) }), {
    maxLength: 10,
  })
  .map((all) => all.map((one, id): Numbered => ({ id, ...one })));

const sort = (items: readonly Numbered[]) =>
  inOrder(items, { rank: ({ rank }) => rank, after: ({ after }) => items.filter(({ id }) => after.includes(id)) });

describe("the order of changes", () => {
  it("has each item once, after all that it depends on; or names those that depend on each other", () => {
    fc.assert(
      fc.property(arbitrary, (items) => {
        const sorted = sort(items);
        const cycle = "cycle" in sorted ? sorted.cycle : [];
        const order = "order" in sorted ? sorted.order : [];
        const stuck = new Set(cycle.map(({ id }) => id));
        const free = cycle.filter(({ after }) => !after.some((other) => stuck.has(other)));
        const at = new Map(order.map(({ id }, place) => [id, place]));
        const early = order.filter(({ id, after }) =>
          after.some((other) => items.length > other && (at.get(other) ?? 99) >= (at.get(id) ?? 0)),
        );
        expect({ free, early }).toEqual({ free: [], early: [] });
        expect(cycle.length > 0 || at.size === items.length).toBe(true);
      }),
    );
  });

  it("is that of the ranks, and of the list for the same rank, where nothing depends on anything", () => {
    fc.assert(
      fc.property(arbitrary, (items) => {
        const free = items.map((item) => ({ ...item, after: [] }));
        expect(sort(free)).toEqual({ order: free.toSorted((one, other) => one.rank - other.rank) });
      }),
    );
  });
});

const rankOf = ([apiVersion, kind]: readonly [string, string]) => kindOrder({ apiVersion, kind });

const order = (...kinds: readonly (readonly [string, string])[]) =>
  kinds.toSorted((one, other) => rankOf(one) - rankOf(other)).map(([, kind]) => kind);

describe("the order of kinds", () => {
  it("puts Jobs before the workloads, which may mount what a Job makes", () => {
    expect(order(["apps/v1", "Deployment"], ["batch/v1", "CronJob"], ["batch/v1", "Job"], ["v1", "Service"])).toEqual([
      "Service",
      "Job",
      "Deployment",
      "CronJob",
    ]);
  });

  it("puts first what others need, then custom resources, and last what intercepts requests", () => {
    expect(
      order(
        ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"],
        ["example.com/v1", "Widget"],
        ["apps/v1", "Deployment"],
        ["v1", "Service"],
        ["v1", "ConfigMap"],
        ["rbac.authorization.k8s.io/v1", "RoleBinding"],
        ["v1", "ServiceAccount"],
        ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
        ["v1", "Namespace"],
      ),
    ).toEqual([
      "Namespace",
      "CustomResourceDefinition",
      "ServiceAccount",
      "RoleBinding",
      "ConfigMap",
      "Service",
      "Deployment",
      "Widget",
      "ValidatingWebhookConfiguration",
    ]);
  });

  it("takes a custom resource that is called like a kind of Kubernetes for a custom resource", () => {
    expect(order(["v1", "Service"], ["serving.knative.dev/v1", "Service"], ["example.com/v1", "Namespace"])).toEqual([
      "Service",
      "Service",
      "Namespace",
    ]);
  });
});
