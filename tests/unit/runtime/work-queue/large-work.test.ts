import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Claim, largeWork } from "../../../../packages/runtime/src/work-queue/large-work.ts";

const PLACES = 4;
const groupOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** It has checked so many targets, and nobody waits for it. */
const checked = (kept: number): Claim => ({ isUrgent: () => false, kept });
/** It has applied changes. */
const APPLYING: Claim = { isUrgent: () => true, kept: "all" };

const line = (places: number) => {
  const woken: string[] = [];
  const clock = { now: 0 };
  const large = largeWork(
    groupOf,
    (key) => woken.push(key),
    places,
    () => clock.now,
  );
  return { ...large, woken, clock };
};

describe("places for large Transactions", () => {
  it("are given back after a round, and then whoever is first in line is woken", () => {
    const { enter, leave, woken } = line(2);
    expect(["a/1", "a/2", "b/1", "c/1"].map((key) => enter(key, checked(0)))).toEqual([true, false, true, false]);
    leave("a/1");
    expect(woken).toEqual(["a/2"]);
    expect(enter("a/2", checked(0))).toBe(true);
  });

  it("are released to those that wait by one whose round does not end, which is woken when it has one again", () => {
    const { enter, leave, woken, clock } = line(1);
    expect(enter("a/1", APPLYING)).toBe(true);
    clock.now = 3_600_000;
    expect(enter("a/1", APPLYING)).toBe(true);
    expect(enter("b/1", APPLYING)).toBe(false);
    expect(enter("a/1", APPLYING)).toBe(false);
    expect(woken).toEqual(["b/1"]);
    expect(enter("b/1", APPLYING)).toBe(true);
    leave("b/1");
    expect(woken).toEqual(["b/1", "a/1"]);
  });

  it("are given back after some seconds also by one that only checks its targets, as soon as it has got on", () => {
    const { enter, isOver, clock, woken } = line(1);
    expect(enter("a/1", checked(3))).toBe(true);
    expect(enter("b/1", checked(0))).toBe(false);
    expect(isOver("a/1")).toBe(false);
    clock.now = 6_000;
    expect(isOver("a/1")).toBe(true);
    expect(enter("a/1", checked(3))).toBe(true);
    expect(enter("a/1", checked(4))).toBe(false);
    expect(woken).toEqual(["b/1"]);
    expect(enter("b/1", checked(0))).toBe(true);
  });

  it("go first to those that others wait for, whatever two namespaces do with their own", () => {
    const { enter, clock, woken } = line(2);
    enter("a/1", checked(0));
    enter("b/1", checked(0));
    for (const key of ["a/2", "b/2", "c/1"]) expect(enter(key, checked(0))).toBe(false);
    expect(enter("d/1", APPLYING)).toBe(false);
    clock.now = 6_000;
    expect(enter("a/1", checked(1))).toBe(false);
    expect(woken).toEqual(["d/1"]);
    expect(enter("d/1", APPLYING)).toBe(true);
    // Others than these wait, too: it keeps its slot for longer.
    clock.now = 20_000;
    expect(enter("d/1", APPLYING)).toBe(true);
    clock.now = 40_000;
    expect(enter("d/1", APPLYING)).toBe(false);
  });

  it("go to those that nobody waits for, too, whoever else is always in line", () => {
    const { enter, leave, woken } = line(1);
    enter("a/1", APPLYING);
    enter("z/1", checked(0));
    const keys = ["a/1", "b/1", "c/1", "d/1", "e/1"];
    let holder = "a/1";
    for (let turn = 0; turn < 8 && !woken.includes("z/1"); turn += 1) {
      for (const key of keys) if (key !== holder) enter(key, APPLYING);
      leave(holder);
      holder = woken.at(-1) ?? "";
      enter(holder, APPLYING);
    }
    expect(woken).toContain("z/1");
  });

  it("are never more than there are, nor more than one of a namespace, and go to everybody in the end", () => {
    const keys = fc.array(fc.constantFrom("a/1", "a/2", "a/3", "b/1", "b/2", "c/1", "d/1"), { maxLength: 60 });
    fc.assert(
      fc.property(keys, fc.array(fc.boolean(), { minLength: 7 }), (rounds, urgent) => {
        const inside = new Set<string>();
        const woken = new Set<string>();
        const { enter, leave } = largeWork(groupOf, (key) => woken.add(key), PLACES);
        const claim = (key: string): Claim =>
          urgent[(key.codePointAt(0) ?? 0) % urgent.length] === true ? APPLYING : checked(0);
        const round = (key: string): void => {
          woken.delete(key);
          if (enter(key, claim(key))) inside.add(key);
          expect(inside.size).toBeLessThanOrEqual(PLACES);
          expect(new Set([...inside].map(groupOf)).size).toBe(inside.size);
        };
        const waited = new Set<string>();
        for (const key of rounds)
          if (inside.delete(key)) leave(key);
          else {
            round(key);
            waited.add(key);
          }
        for (let turn = 0; turn < 3 * rounds.length; turn += 1) {
          for (const key of inside) {
            inside.delete(key);
            waited.delete(key);
            leave(key);
          }
          for (const key of woken) round(key);
        }
        expect([...waited].filter((key) => !inside.has(key) && woken.has(key))).toEqual([]);
        expect(inside.size + woken.size).toBe(0);
      }),
    );
  });
});
