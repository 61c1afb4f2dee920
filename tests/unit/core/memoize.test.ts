import { expect, it } from "vitest";
import { memoizedText } from "../../../packages/controller/src/core/kubernetes/memoize.ts";

it("remembers the latest texts, as long as they have so many characters together", () => {
  const computed: string[] = [];
  const shout = memoizedText(6, (text) => {
    computed.push(text);
    return text.toUpperCase();
  });
  expect(["aa", "bb", "cc", "aa", "dd", "aa", "cc", "bb"].map(shout)).toEqual([
    "AA",
    "BB",
    "CC",
    "AA",
    "DD",
    "AA",
    "CC",
    "BB",
  ]);
  // With dd, bb goes, which was asked for before aa.
  expect(computed).toEqual(["aa", "bb", "cc", "dd", "bb"]);
  expect(shout("longer than that")).toBe("LONGER THAN THAT");
});
