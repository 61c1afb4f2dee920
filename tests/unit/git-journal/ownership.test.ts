// Tests whose folder of a branch it is, when several destinations or clusters want it.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Claim,
  claimsOf,
  type Contest,
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
  credentials: "shop/secret",
  standing: "unknown",
  ...more,
});

const conflicts = (claims: readonly Claim[]): ReadonlyMap<string, string> => claimsOf(claims).conflicts;

const places = (some: readonly Claim[]): ReadonlySet<string> =>
  new Set(some.map(({ branch, folder }) => `${branch} ${folder}`));

describe("destinations with one place", () => {
  const older = claim("shop/old", { creationTimestamp: "2025-01-01T00:00:00Z" });
  it("the older one has it, and the other one names it", () => {
    expect([...conflicts([claim("shop/new"), older])]).toEqual([["shop/new", "shop/old"]]);
  });

  it("who is refused by the server takes it from nobody, and has it where the others are, too", () => {
    const refused: Claim = { ...older, credentials: "other/", standing: "refused" };
    expect([...conflicts([claim("shop/new"), refused])]).toEqual([["shop/old", "shop/new"]]);
    expect([...conflicts([claim("shop/new", { standing: "refused" }), refused])]).toEqual([["shop/new", "shop/old"]]);
  });

  it("of the same second the uid decides, in whatever order they are", () => {
    expect([...conflicts([claim("b"), claim("a")])]).toEqual([["b", "a"]]);
    expect([...conflicts([claim("a"), claim("b")])]).toEqual([["b", "a"]]);
  });

  it.each<readonly [string, Partial<Claim>]>([
    ["another branch", { branch: "https://g/r dev" }],
    ["a nested folder", { folder: right(baseFolder("prod")) }],
  ])("%s is no conflict", (_, more) => {
    expect(conflicts([older, claim("shop/new", { ...more, credentials: "other/" })]).size).toBe(0);
  });

  it("who has not shown that he may push keeps it from nobody with other credentials: it is whose marker is there first", () => {
    const other = claim("evil/old", { ...older, destination: "evil/old", credentials: "evil/" });
    const { conflicts, contests } = claimsOf([claim("shop/new"), claim("shop/newer", { uid: "z" }), other]);
    expect([...conflicts]).toEqual([["shop/newer", "shop/new"]]);
    expect([...contests]).toEqual([
      ["evil/old", { rivals: ["shop/new"], yields: false }],
      ["shop/new", { rivals: ["evil/old"], yields: true }],
    ]);
  });

  it("whose marker is there keeps it, from older ones, too", () => {
    const owner = claim("shop/new", { standing: "owner", credentials: "new/" });
    expect([...conflicts([owner, older])]).toEqual([["shop/old", "shop/new"]]);
    expect([...conflicts([owner, { ...older, standing: "owner" }])]).toEqual([["shop/new", "shop/old"]]);
    expect(claimsOf([owner, older]).contests.size).toBe(0);
  });

  it("each place has exactly one owner, or several of which each has other credentials, and none has shown anything", () => {
    const any = fc.record({
      destination: fc.uuid(),
      creationTimestamp: fc.constantFrom("1", "2"),
      uid: fc.uuid(),
      branch: fc.constantFrom("x", "y"),
      folder: fc.constantFrom(ROOT, right(baseFolder("a"))),
      credentials: fc.constantFrom("a", "b", "c"),
      standing: fc.constantFrom("owner" as const, "unknown" as const, "refused" as const),
    });
    fc.assert(
      fc.property(fc.uniqueArray(any, { selector: ({ destination }) => destination }), (claims) => {
        const { conflicts, contests } = claimsOf(claims);
        const free = claims.filter(({ destination }) => !conflicts.has(destination));
        const isContest = ({ destination }: Claim): boolean => contests.has(destination);
        expect(places(free)).toEqual(places(claims));
        const owners = free.filter((one) => !isContest(one));
        expect(owners.length).toBe(places(owners).size);
        const contenders = free.filter(isContest);
        expect(contenders.every(({ standing }) => standing === "unknown")).toBe(true);
        const writers = new Set(contenders.map((one) => `${[...places([one])].join("")} ${one.credentials}`));
        expect(writers.size).toBe(contenders.length);
        expect(contenders.filter(({ destination }) => contests.get(destination)?.yields === false).length).toBe(
          places(contenders).size,
        );
        expect([...places(owners)].filter((one) => places(contenders).has(one))).toEqual([]);
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

  it.each<readonly [string, string, Contest, boolean]>([
    ["a rival's", marker({ ...us, destination: "evil/old" }), { rivals: ["evil/old"], yields: false }, true],
    [
      "one of that name",
      marker({ clusterUid: "d", destination: "evil/old" }),
      { rivals: ["evil/old"], yields: false },
      false,
    ],
    ["any", marker({ ...us, clusterUid: "d" }), { rivals: ["evil/old"], yields: true }, true],
    ["its own", marker(us), { rivals: ["evil/old"], yields: true }, false],
    ["none", "", { rivals: ["evil/old"], yields: true }, false],
  ])("while others may have the folder, %s keeps it from being written, or not", (_, text, contest, isBlocked) => {
    const ownership = ownershipBy(text === "" ? undefined : text, us, false, contest);
    expect(ownership.type === "anothers" && ownership.isBlocked).toBe(isBlocked);
  });
});
