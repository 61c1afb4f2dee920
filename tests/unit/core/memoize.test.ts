import { memoizedText } from "@janus/types";
import { expect, it } from "vitest";

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
