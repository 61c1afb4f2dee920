import { simulate } from "@janus/testing";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { release } from "./arbitrary-release.ts";

const releaseAndFailure = release.chain((one) => fc.tuple(fc.constant(one), fc.nat(one.length - 1)));

it("whichever change fails, all objects are as before", () => {
  fc.assert(
    fc.property(releaseAndFailure, ([{ transaction, live }, failAt]) => {
      const { phase, objects, before, rolledBack, applied } = simulate(transaction, live, { failAt });
      expect(phase).toBe("RolledBack");
      expect(objects).toEqual(before);
      expect(rolledBack.every((index) => applied.includes(index))).toBe(true);
    }),
    { numRuns: 150 },
  );
});

it("if none fails, all are applied in their order", () => {
  fc.assert(
    fc.property(release, ({ transaction, live, length }) => {
      const { phase, applied, items } = simulate(transaction, live);
      expect(phase).toBe("Committed");
      expect(applied).toEqual(Array.from({ length }, (_, index) => index));
      expect(items.every(({ state }) => state === "Applied")).toBe(true);
    }),
    { numRuns: 50 },
  );
});
