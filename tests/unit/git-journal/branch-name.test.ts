// Names of branches: what is taken for one is one for git, and no more than a name.
import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { branch } from "../../../packages/git-journal/src/api/branch.ts";
import { branchName } from "../../../packages/git-journal/src/core/git/branch-name.ts";

/** Whether git takes each of them. */
const gits = (names: readonly string[]): readonly boolean[] =>
  names.map((name) => spawnSync("git", ["check-ref-format", `refs/heads/${name}`]).status === 0);

const accepts = (name: string): boolean => E.isRight(branchName(name));

it.each(["main", "release/1.36", "feature/ünïcode", "a@b", "a-b_c.d", "a/@/b"])("%s is one", (name) => {
  expect([accepts(name), ...gits([name])]).toEqual([true, true]);
});

const NONE = [
  "",
  ".",
  "..",
  "a..b",
  ".a",
  "a/.b",
  "a.lock",
  "a.lock/b",
  "a.",
  "/a",
  "a/",
  "a//b",
  "a b",
  "a~1",
  "a^",
  "a:b",
];
const NEITHER = ["a?", "a*", "a[", "a\\b", "@{-1}", "a@{b", "a\nb", "a\u007F"];

it.each([...NONE, ...NEITHER])("%j is none", (name) => {
  expect([accepts(name), ...gits([name])]).toEqual([false, false]);
});

it.each(["-a", "--upload-pack=evil", "HEAD", "@"])(
  "%s is none for us, since it means something else in places",
  (name) => {
    expect(accepts(name)).toBe(false);
  },
);

it("whatever is taken for one, git takes, too", () => {
  const unit = fc.constantFrom(...Array.from("ab/.-@{}~^:?*[\\ \t"), "é", "\uD800", ".lock", "..");
  fc.assert(
    fc.property(fc.array(fc.string({ unit, minLength: 1, maxLength: 6 }), { maxLength: 20 }), (names) => {
      const accepted = names.filter(accepts);
      expect(gits(accepted)).toEqual(accepted.map(() => true));
    }),
    { numRuns: 20 },
  );
});

it("what the API server refuses is what is none, but for parts that are too long, and no text of Unicode", () => {
  const unit = fc.constantFrom(...Array.from("ab/.-@{~^:?*[\\ \t\u0085"), "é", ".lock", "..", "HEAD");
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 6 }), (name) => {
      expect(E.isRight(branch.decode(name))).toBe(accepts(name));
    }),
    { numRuns: 500 },
  );
});
