// Tests whose folder of a branch it is, when several destinations or clusters want it.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Claim,
  conflictingClaims,
  marker,
  type Owner,
  ownershipBy,
  readMarker,
} from "../../../packages/git-journal/src/core/ownership.ts";
import { baseFolder, ROOT } from "../../../packages/git-journal/src/core/path.ts";
import { right } from "./right.ts";

const claim = (destination: string, more: Partial<Claim> = {}): Claim => ({
  destination,
  creationTimestamp: "2026-01-01T00:00:00Z",
  uid: destination,
  branch: "https://g/r main",
  folder: ROOT,
  isRefused: false,
  ...more,
});

const places = (some: readonly Claim[]): ReadonlySet<string> =>
  new Set(some.map(({ branch, folder }) => `${branch} ${folder}`));

describe("destinations with one place", () => {
  const older = claim("shop/old", { creationTimestamp: "2025-01-01T00:00:00Z" });
  it("the older one has it, and the other one names it", () => {
    expect([...conflictingClaims([claim("shop/new"), older])]).toEqual([["shop/new", "shop/old"]]);
  });

  it("who is refused by the server takes it from nobody, and has it where the others are, too", () => {
    const refused = { ...older, isRefused: true };
    expect([...conflictingClaims([claim("shop/new"), refused])]).toEqual([["shop/old", "shop/new"]]);
    expect([...conflictingClaims([claim("shop/new", { isRefused: true }), refused])]).toEqual([
      ["shop/new", "shop/old"],
    ]);
  });

  it("of the same second the uid decides, in whatever order they are", () => {
    expect([...conflictingClaims([claim("b"), claim("a")])]).toEqual([["b", "a"]]);
    expect([...conflictingClaims([claim("a"), claim("b")])]).toEqual([["b", "a"]]);
  });

  it.each<readonly [string, Partial<Claim>]>([
    ["another branch", { branch: "https://g/r dev" }],
    ["a nested folder", { folder: right(baseFolder("prod")) }],
  ])("%s is no conflict", (_, more) => {
    expect(conflictingClaims([older, claim("shop/new", more)]).size).toBe(0);
  });

  it("each place has exactly one owner", () => {
    const any = fc.record({
      destination: fc.uuid(),
      creationTimestamp: fc.constantFrom("1", "2"),
      uid: fc.uuid(),
      branch: fc.constantFrom("x", "y"),
      folder: fc.constantFrom(ROOT, right(baseFolder("a"))),
      isRefused: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.uniqueArray(any, { selector: ({ destination }) => destination }), (claims) => {
        const conflicts = conflictingClaims(claims);
        const owners = claims.filter(({ destination }) => !conflicts.has(destination));
        expect(places(owners)).toEqual(places(claims));
        expect(owners.length).toBe(places(owners).size);
      }),
    );
  });
});

describe("the marker", () => {
  const us: Owner = { clusterUid: "c", destination: "shop/prod" };
  it("says whose folder it is", () => {
    expect(marker(us)).toBe(
      "apiVersion: configbutler.ai/v1alpha1\nkind: Owner\nclusterUID: c\ndestination: shop/prod\n",
    );
    expect(readMarker(marker(us))).toEqual(us);
  });

  it("ours, or none: it is written", () => {
    expect(ownershipBy(marker(us), us, true)).toEqual({ type: "ours" });
    expect(ownershipBy(undefined, us, true)).toEqual({ type: "free" });
  });

  it.each([
    ["of another cluster", marker({ ...us, clusterUid: "d" }), "GitDestination shop/prod of the cluster with uid d"],
    ["of another destination", marker({ ...us, destination: "shop/old" }), "GitDestination shop/old of this cluster"],
    ["that cannot be read", "kind: [", "somebody whose marker cannot be read"],
    ["of another kind", marker(us).replace("Owner", "ConfigMap"), "somebody whose marker cannot be read"],
    ["without a destination", "kind: Owner\nclusterUID: c\n", "somebody whose marker cannot be read"],
    ["without a cluster", "kind: Owner\ndestination: shop/prod\n", "somebody whose marker cannot be read"],
  ])("one %s: named, and in exclusive mode nothing is written", (_, text, other) => {
    const message = `the folder is that of ${other}: use another baseFolder, or, if that writes here no more, remove .configbutler/owner.yaml in it`;
    expect(ownershipBy(text, us, false)).toEqual({ type: "anothers", isBlocked: false, message });
    expect(ownershipBy(text, us, true)).toMatchObject({ isBlocked: true });
  });
});
