// Tests that a request which one replica has recorded is the same for another, and that no other line is one.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { entryIn, entryLine } from "../../../packages/git-journal/src/core/entry-line.ts";

it("comes back as it was, in one line, with a time of the clock of who reads it", () => {
  const entry = fc.record({
    user: fc.string(),
    uid: fc.string(),
    resourceVersion: fc.option(fc.string(), { nil: undefined }),
    at: fc.nat(),
  });
  fc.assert(
    fc.property(fc.string(), entry, fc.nat(), (key, one, now) => {
      const line = entryLine({ key, entry: one });
      expect(line).not.toMatch(/[\r\n]/u);
      expect(entryIn(line, now)).toEqual({ key, entry: { ...one, at: now } });
    }),
  );
});

it.each(["", "{", "[]", "null", "{}", '{"key":"k","user":1,"uid":"u"}', '{"key":"k","user":"a"}'])(
  "%s is none",
  (line) => {
    expect(entryIn(line, 0)).toBeUndefined();
  },
);
