import { type FairTurns, fairTurns } from "@janus/runtime/parts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

/** All that get a place now. */
const all = (places: FairTurns<string>): readonly string[] => {
  const next = places.next();
  return next === undefined ? [] : [next, ...all(places)];
};

const crowd = (places: FairTurns<string>, group: string, size: number): void => {
  for (let n = 0; n < size; n += 1) places.join(group, `${group}${n}`);
};

describe("places that groups share", () => {
  it("go to groups in turn, and within a group to who came first", () => {
    const places = fairTurns<string>(100);
    crowd(places, "a", 3);
    crowd(places, "b", 1);
    crowd(places, "c", 2);
    expect(all(places)).toEqual(["a0", "b0", "c0", "a1", "c1", "a2"]);
  });

  it.each([
    [1, 1],
    [2, 1],
    [16, 8],
    [60, 30],
    [61, 31],
  ])("%i of them: one group that keeps all it is given has %i", (size, most) => {
    const places = fairTurns<string>(size);
    crowd(places, "a", 100);
    expect(all(places)).toHaveLength(most);
  });

  it("are left for others also where several groups release none", () => {
    const places = fairTurns<string>(16);
    const hoarded = ["a", "b", "c", "d"].map((group) => {
      crowd(places, group, 100);
      return all(places).length;
    });
    expect(hoarded).toEqual([8, 4, 2, 1]);
    crowd(places, "e", 2);
    expect(all(places)).toEqual(["e0"]);
    places.leave("e0");
    expect(all(places)).toEqual(["e1"]);
  });

  it("are never more for what is shared than it may have, and others of the group go on", () => {
    const places = fairTurns<string>(100, { of: (one: string) => one.slice(1, 2), most: 2 });
    for (const one of ["a0", "a0'", "b0", "a1", "c0"]) places.join(one.slice(0, 1), one);
    places.join("d", "d1");
    places.join("d", "d2");
    expect(all(places)).toEqual(["a0", "b0", "d1", "a1", "d2"]);
    places.leave("b0");
    expect(all(places)).toEqual(["c0"]);
  });

  it("are not given to who waits no more", () => {
    const places = fairTurns<string>(8);
    crowd(places, "a", 2);
    places.quit("a", "a0");
    places.quit("a", "a2");
    expect(all(places)).toEqual(["a1"]);
  });

  it("are given back for what was shared when they were given", () => {
    const shares = new Map([["a0", "x"]]);
    const places = fairTurns<string>(100, { of: (one: string) => shares.get(one) ?? "x", most: 1 });
    crowd(places, "a", 2);
    expect(all(places)).toEqual(["a0"]);
    shares.set("a0", "y");
    places.leave("a0");
    expect(all(places)).toEqual(["a1"]);
  });

  const group = fc.constantFrom("a", "b", "c", "d", "e");
  const deed = fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constant("join" as const), group }) },
    fc.record({ type: fc.constant("quit" as const), group }),
    { weight: 2, arbitrary: fc.record({ type: fc.constant("leave" as const), group }) },
  );

  it("never are more than there are, nor more than half for one group; and who may have one waits for none of the others twice", () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (deeds, size) => {
        const places = fairTurns<string>(size);
        const waiting = new Map<string, string[]>();
        const taken = new Map<string, number>();
        const holders: string[] = [];
        /** How often others were given a place since this group has waited, and could have had one, in vain. */
        const passedOver = new Map<string, Set<string>>();
        const takenBy = (of: string): number => taken.get(of) ?? 0;
        const free = (): number => size - [...taken.values()].reduce((sum, count) => sum + count, 0);
        const isEligible = (of: string): boolean => (waiting.get(of)?.length ?? 0) > 0 && takenBy(of) < free();
        let made = 0;
        for (const { type, group } of deeds) {
          const ours = waiting.get(group) ?? [];
          waiting.set(group, ours);
          if (type === "join") {
            made += 1;
            ours.push(`${group}/${made}`);
            places.join(group, `${group}/${made}`);
          }
          if (type === "quit") places.quit(group, ours.pop() ?? "nobody");
          if (type === "leave" && takenBy(group) > 0) {
            taken.set(group, takenBy(group) - 1);
            const at = holders.findIndex((one) => one.startsWith(`${group}/`));
            places.leave(holders.splice(at, 1)[0] ?? "nobody");
          }
          for (;;) {
            const eligible = [...waiting.keys()].filter(isEligible);
            const one = places.next();
            expect(one === undefined).toBe(eligible.length === 0);
            if (one === undefined) break;
            const [of = ""] = one.split("/");
            expect(eligible).toContain(of);
            expect(waiting.get(of)?.shift()).toBe(one);
            taken.set(of, takenBy(of) + 1);
            holders.push(one);
            expect(free()).toBeGreaterThanOrEqual(0);
            expect(takenBy(of)).toBeLessThanOrEqual(Math.ceil(size / 2));
            passedOver.delete(of);
            for (const other of eligible.filter((other) => other !== of)) {
              const before = passedOver.get(other) ?? new Set<string>();
              expect(before).not.toContain(of);
              passedOver.set(other, before.add(of));
            }
            for (const [other, theirs] of waiting) if (theirs.length === 0) passedOver.delete(other);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
