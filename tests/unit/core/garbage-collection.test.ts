import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../packages/controller/src/core/preflight/garbage-collection.ts";
import type { Owned } from "../../../packages/controller/src/core/state/listings.ts";

/**
 * As the garbage collector goes about it: what has no living owner is taken, again and again until nothing more is; and so is
 * what is tied to something that is gone.
 */
const swept = (all: readonly Owned[], deleted: ReadonlySet<string>): ReadonlySet<string> => {
  const gone = new Set(deleted);
  for (let before = -1; before < gone.size; ) {
    before = gone.size;
    for (const { uid, owners, tiedTo } of all)
      if ((owners.length > 0 && owners.every((owner) => gone.has(owner))) || (tiedTo !== undefined && gone.has(tiedTo)))
        gone.add(uid);
  }
  return gone;
};

const uid: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const owned: fc.Arbitrary<readonly Owned[]> = fc.uniqueArray(
  fc
    .record(
      { uid, owners: fc.array(fc.oneof(uid, fc.constant("elsewhere")), { maxLength: 3 }), tiedTo: uid },
      { requiredKeys: ["uid", "owners"] },
    )
    .map((one) => ({ ...one, kind: "ConfigMap", name: one.uid })),
  { selector: (one) => one.uid },
);
const deletions = fc.uniqueArray(fc.oneof(uid, fc.constant(undefined)), { maxLength: 6 });

const uids = (all: readonly Owned[]): readonly string[] => all.map(({ uid }) => uid).toSorted();

describe("what goes with deletions", () => {
  it("is after each of them what the garbage collector finds without a living owner", () => {
    fc.assert(
      fc.property(owned, deletions, (all, deleted) => {
        const { goneAfter } = collectGarbage(all, deleted);
        const gone = (until: number) => [...goneAfter].flatMap(([one, at]) => (at < until ? [one] : [])).toSorted();
        const expected = (until: number) =>
          [...swept(all, new Set(deleted.slice(0, until).filter((one) => one !== undefined)))].toSorted();
        const steps = Array.from({ length: deleted.length + 1 }, (_, until) => until);
        expect(steps.map(gone)).toEqual(steps.map(expected));
      }),
    );
  });

  it("is lost where no change deletes it, after the last of its owners", () => {
    fc.assert(
      fc.property(owned, deletions, (all, deleted) => {
        const { goneAfter, lost } = collectGarbage(all, deleted);
        for (const index of deleted.keys())
          expect(uids(lost.get(index) ?? [])).toEqual(
            uids(all.filter(({ uid }) => goneAfter.get(uid) === index && !deleted.includes(uid))),
          );
      }),
    );
  });

  it("is also what calls one of them by its name, whether a change deletes that, or it goes itself", () => {
    const service: Owned = {
      kind: "Service",
      name: "web",
      uid: "service",
      owners: ["app"],
      callName: "Service shop/web",
    };
    const endpoints: Owned = {
      kind: "Endpoints",
      name: "web",
      uid: "e",
      owners: ["living"],
      tiedTo: "Service shop/web",
    };
    const callNames = new Map([["service", "Service shop/web"]]);
    expect(collectGarbage([endpoints, service], ["other", "app"], callNames).goneAfter.get("e")).toBe(1);
    expect(collectGarbage([endpoints], ["service"], callNames).lost).toEqual(new Map([[0, [endpoints]]]));
    expect(collectGarbage([endpoints], ["other"], callNames).goneAfter.has("e")).toBe(false);
  });
});
