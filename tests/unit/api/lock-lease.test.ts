import { type Locked, lockLease, storedIn } from "@janus/api";
import * as fc from "fast-check";
import { assert, describe, expect, it } from "vitest";
import { isSubdomain, label, pathSegment, subdomain } from "./arbitrary-name.ts";

const kinds = fc.constantFrom(
  { group: "", kind: "ConfigMap" },
  { group: "", kind: "Event" },
  { group: "events.k8s.io", kind: "Event" },
  { group: "apps", kind: "Deployment" },
  { group: "apps.example.com", kind: "Deployment" },
  { group: "rbac.authorization.k8s.io", kind: "ClusterRole" },
  { group: "example.com", kind: "ConfigMap" },
  { group: "example.com", kind: "Configmap" },
  { group: "example.com", kind: "Foo-Bar" },
  { group: "example.com", kind: "Foo" },
  { group: "example.com", kind: "K".repeat(63) },
);
const name = fc.oneof(subdomain, pathSegment);
const within = fc.oneof(
  fc.constant({}),
  label.map((namespace) => ({ namespace })),
);

// What Kubernetes itself serves never differs in case only; what others serve may.
const identity = ({ group, kind, name }: Locked): string =>
  JSON.stringify([storedIn({ group, kind }), group.includes("example") ? kind : kind.toLowerCase(), name]);

/** Targets that would share the Lease of this one if its short form could be mistaken for a plain one. */
const lookalikes = (one: Locked): readonly Locked[] => {
  const rest = lockLease(one).slice(`janus-lock-${one.namespace ?? ""}-`.length);
  const group = one.group.includes("example") ? "" : one.group;
  return [...rest.matchAll(/-/gu)]
    .map(({ index }) => ({ ...one, group, kind: rest.slice(0, index), name: rest.slice(index + 1) }))
    .filter(({ kind, name }) => kind !== "" && name !== "");
};

describe("the Lease that locks a target", () => {
  it.each<readonly [Locked, string]>([
    [{ group: "", kind: "ConfigMap", namespace: "shop", name: "app" }, "janus-lock-shop-configmap-app"],
    [{ group: "apps", kind: "Deployment", namespace: "a-b", name: "web.v2" }, "janus-lock-a-b-deployment-web.v2"],
    [{ group: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" }, "janus-lock--clusterrole-admin"],
  ])("of %j is %s", (target, name) => {
    expect(lockLease(target)).toBe(name);
  });

  it.each<readonly [string, Locked]>([
    ["a colon in its name", { group: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:node" }],
    ["a group of its own", { group: "example.com", kind: "Deployment", namespace: "shop", name: "web" }],
    ["a kind that two groups have", { group: "", kind: "Event", namespace: "shop", name: "x" }],
    ["253 characters", { group: "", kind: "ConfigMap", namespace: "shop", name: "x".repeat(253) }],
    ["a name like a short form", { group: "", kind: "ConfigMap", namespace: "shop", name: "x-0123456789abcdef" }],
    ["a hyphen in its kind", { group: "", kind: "Foo-Bar", namespace: "shop", name: "x" }],
  ])("of a target with %s is a short form with a hash", (_, target) => {
    expect(lockLease(target)).toMatch(/^janus-lock-.*-[0-9a-f]{16}$/u);
  });

  it("is the same for an Event in both of its groups: there is one object", () => {
    const [one, other] = ["", "events.k8s.io"].map((group) => ({ group, kind: "Event", namespace: "shop", name: "x" }));
    assert(one !== undefined && other !== undefined);
    expect(lockLease(one)).toBe(lockLease(other));
    expect(lockLease(one)).not.toBe(lockLease({ ...one, group: "example.com" }));
  });

  it("has a name that is legal for a Lease", () => {
    fc.assert(
      fc.property(kinds, within, name, (kind, within, name) => {
        expect(lockLease({ ...kind, ...within, name })).toMatch(isSubdomain);
      }),
    );
  });

  it("is never that of another target in its namespace", () => {
    fc.assert(
      fc.property(within, kinds, name, kinds, name, (within, kind, name, otherKind, otherName) => {
        const one = { ...kind, ...within, name };
        const others = [
          { ...otherKind, ...within, name: otherName },
          { ...otherKind, ...within, name },
          { ...kind, ...within, name: otherName },
          ...lookalikes(one),
        ];
        for (const other of others) expect(lockLease(other) === lockLease(one)).toBe(identity(other) === identity(one));
      }),
      { numRuns: 1_000 },
    );
  });

  it("of a cluster-scoped target is never that of a namespaced one, wherever the controller runs", () => {
    fc.assert(
      fc.property(kinds, name, kinds, label, name, (kind, name, otherKind, namespace, otherName) => {
        expect(lockLease({ ...kind, name })).not.toBe(lockLease({ ...otherKind, namespace, name: otherName }));
      }),
    );
  });
});
