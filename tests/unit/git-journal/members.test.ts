// Tests that replicas with the same view agree on whose a branch is, and that few branches move when one comes or goes.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  branchLeaseName,
  memberLease,
  ownerOf,
  type SeenLease,
  type View,
  viewOf,
} from "../../../packages/git-journal/src/core/members.ts";

const member = fc.stringMatching(/^pod-[a-z0-9]{1,6}$/u);
const members = fc.uniqueArray(member, { minLength: 1, maxLength: 8 });
const branches = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{16}$/u), { minLength: 1, maxLength: 20 });
const holdings = fc.array(fc.tuple(fc.nat(19), fc.nat(7)), { maxLength: 5 });

type Seen = Pick<View, "members" | "holders">;

const view = (all: readonly string[], keys: readonly string[] = [], held: readonly [number, number][] = []): Seen => ({
  members: new Set(all),
  holders: new Map(
    held.map(([branch, holder]) => [branchLeaseName(keys[branch % keys.length] ?? ""), all[holder % all.length] ?? ""]),
  ),
});

const owners = (seen: Seen, keys: readonly string[]): readonly string[] => keys.map((key) => ownerOf(seen, key));

describe("the owner of a branch", () => {
  it("is a member, and the same for all who see the same, in whatever order", () => {
    fc.assert(
      fc.property(members, branches, holdings, (all, keys, held) => {
        const before = owners(view(all, keys, held), keys);
        const { holders } = view(all, keys, held);
        expect(owners({ members: new Set(all.toReversed()), holders }, keys)).toEqual(before);
        for (const owner of before) expect(all).toContain(owner);
      }),
    );
  });

  it("who leaves gives away its own branches, and no others move", () => {
    fc.assert(
      fc.property(members, branches, holdings, fc.nat(7), (all, keys, held, at) => {
        fc.pre(all.length > 1);
        const gone = all[at % all.length];
        const { holders } = view(all, keys, held);
        const before = owners({ members: new Set(all), holders }, keys);
        const after = owners({ members: new Set(all.filter((one) => one !== gone)), holders }, keys);
        expect(after).not.toContain(gone);
        expect(after.filter((_, n) => before[n] !== gone)).toEqual(before.filter((owner) => owner !== gone));
      }),
    );
  });

  it("who joins takes branches, and none moves to another", () => {
    fc.assert(
      fc.property(members, member, branches, (all, joins, keys) => {
        const before = owners(view(all), keys);
        for (const [n, owner] of owners(view([...all, joins]), keys).entries())
          expect([before[n], joins]).toContain(owner);
      }),
    );
  });

  it("is who holds its Lease, as long as that one is a member", () => {
    const all = ["a", "b", "c"];
    for (const holder of all) expect(ownerOf(view(all, ["k"], [[0, all.indexOf(holder)]]), "k")).toBe(holder);
    const holders = new Map([[branchLeaseName("k"), "dead"]]);
    expect(ownerOf({ members: new Set(all), holders }, "k")).toBe(ownerOf(view(all), "k"));
  });

  it("of many branches each member has some", () => {
    const keys = Array.from({ length: 100 }, (_, n) => `${n}`);
    const shares = Object.values(Object.groupBy(owners(view(["a", "b", "c", "d"]), keys), (owner) => owner));
    expect(shares.map((share) => share?.length ?? 0).every((length) => length > 10)).toBe(true);
    expect(shares).toHaveLength(4);
  });
});

const self = { identity: "me", since: 0, leaseDuration: 10 };
const leases = (...all: readonly (readonly [string, SeenLease])[]): ReadonlyMap<string, SeenLease> => new Map(all);
const other = (free: number, holder = "you"): readonly [string, SeenLease] => [memberLease("you"), { holder, free }];

describe("what a replica sees", () => {
  it("a member is there until its Lease lapses, and then it is seen anew", () => {
    const seen = leases(other(30), [branchLeaseName("k"), { holder: "you", free: 25 }]);
    expect(viewOf(seen, self, 24)).toEqual({
      members: new Set(["me", "you"]),
      holders: new Map([["git-k", "you"]]),
      until: 25,
    });
    expect(viewOf(seen, self, 25)).toMatchObject({ holders: new Map(), until: 30 });
    expect(viewOf(seen, self, 30)).toMatchObject({ members: new Set(["me"]), until: Number.POSITIVE_INFINITY });
  });

  it("has the replica itself as a member, also where its own Lease was not shown yet, or long ago", () => {
    expect(viewOf(leases(), self, 99).members).toEqual(new Set(["me"]));
    expect(viewOf(leases([memberLease("me"), { holder: "me", free: 0 }]), self, 99)).toMatchObject({
      members: new Set(["me"]),
      until: Number.POSITIVE_INFINITY,
    });
  });

  it("who has given its Lease back is none", () => {
    expect(viewOf(leases(other(30, "")), self, 1).members).toEqual(new Set(["me"]));
  });

  it("what has lapsed while it was no member itself has not lapsed: it may have been cut off", () => {
    const back = { ...self, since: 100 };
    expect(viewOf(leases(other(30)), back, 109)).toMatchObject({ members: new Set(["me", "you"]), until: 110 });
    expect(viewOf(leases(other(30)), back, 110).members).toEqual(new Set(["me"]));
  });
});
