import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { largeWork } from "../../../packages/controller/src/shell/reconcile/large-work.ts";

const PLACES = 4;
const groupOf = (key: string): string => key.slice(0, key.indexOf("/"));

describe("places for large Transactions", () => {
  it("are given back after a round, and then whoever is first in line is woken", () => {
    const woken: string[] = [];
    const { enter, leave } = largeWork(2, groupOf, (key) => woken.push(key));
    expect(["a/1", "a/2", "b/1", "c/1"].map((key) => enter(key, false))).toEqual([true, false, true, false]);
    leave("a/1");
    expect(woken).toEqual(["a/2"]);
    expect(enter("a/2", false)).toBe(true);
  });

  it("are given back to those in line by one whose round does not end, and it is woken when it has one again", () => {
    const woken: string[] = [];
    let now = 0;
    const { enter, leave } = largeWork(
      1,
      groupOf,
      (key) => woken.push(key),
      () => now,
    );
    expect(enter("a/1", true)).toBe(true);
    now = 3_600_000;
    expect(enter("a/1", true)).toBe(true);
    expect(enter("b/1", true)).toBe(false);
    expect(enter("a/1", false)).toBe(true);
    expect(enter("a/1", true)).toBe(false);
    expect(woken).toEqual(["b/1"]);
    leave("a/1");
    now = 7_200_000;
    expect(enter("b/1", true)).toBe(true);
    leave("b/1");
    expect(woken).toEqual(["b/1", "a/1"]);
  });

  it("are never more than there are, nor more than one of a namespace, and go to everybody in the end", () => {
    const keys = fc.array(fc.constantFrom("a/1", "a/2", "a/3", "b/1", "b/2", "c/1", "d/1"), { maxLength: 60 });
    fc.assert(
      fc.property(keys, (rounds) => {
        const inside = new Set<string>();
        const woken = new Set<string>();
        const { enter, leave } = largeWork(PLACES, groupOf, (key) => woken.add(key));
        const round = (key: string): void => {
          woken.delete(key);
          if (enter(key, true)) inside.add(key);
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
