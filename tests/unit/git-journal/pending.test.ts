// Pending commits: how they are made again on another tip, and what of them is left.
import * as fc from "fast-check";
import * as O from "fp-ts/lib/Option.js";
import { expect, it } from "vitest";
import type { Commit } from "../../../packages/git-journal/src/core/git/commit.ts";
import {
  baseOfPending,
  pendingSubject,
  type RecordedCommit,
  replay,
} from "../../../packages/git-journal/src/core/git/pending.ts";
import { parseRefs } from "../../../packages/git-journal/src/core/git/refs.ts";
import type { ObjectId } from "../../../packages/git-journal/src/core/git/object-id.ts";
import type { FilePath } from "../../../packages/git-journal/src/core/path.ts";
import type { Tree, TreeEntry } from "../../../packages/git-journal/src/core/tree.ts";

const id = (text: string): ObjectId => text.repeat(40).slice(0, 40) as ObjectId;
const file = (blob: ObjectId): TreeEntry => ({ kind: "file", id: blob });

const idAt = (tree: Tree, at: string): ObjectId | undefined => tree.get(at)?.id as ObjectId | undefined;

const treeArbitrary = fc
  .dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom(id("1"), id("2"), id("3")), { noNullPrototype: true })
  .map((blobs): Tree => new Map(Object.entries(blobs).map(([at, blob]) => [at, file(blob)])));

/** Commits that lead from tree to tree. */
const between = (trees: readonly Tree[]): readonly RecordedCommit[] =>
  trees.slice(1).map((to, n) => {
    const from = trees[n] ?? new Map<string, TreeEntry>();
    const paths = [...new Set([...from.keys(), ...to.keys()])];
    return {
      author: { name: `${n}`, email: "" },
      at: n,
      message: `${n}`,
      changes: paths
        .map((at) => ({ path: at as FilePath, from: idAt(from, at), to: idAt(to, at) }))
        .filter((one) => one.from !== one.to),
    };
  });

const applied = (tree: Tree, commits: readonly Commit[]): Tree => {
  const all = new Map(tree);
  for (const change of commits.flatMap(({ changes }) => changes))
    if (change.to === "blob") all.set(change.path, file(change.blob));
    else all.delete(change.path);
  return all;
};

const histories = fc.array(treeArbitrary, { minLength: 1, maxLength: 5 });

it("on the tip on which they were made, they are made as they were", () => {
  fc.assert(
    fc.property(histories, (trees) => {
      const [base = new Map<string, TreeEntry>()] = trees;
      const recorded = between(trees);
      const commits = replay(base, recorded);
      expect(applied(base, commits)).toEqual(trees.at(-1));
      expect(commits.map(({ message }) => message)).toEqual(
        recorded.filter(({ changes }) => changes.length > 0).map(({ message }) => message),
      );
    }),
  );
});

it("on any tip, they touch only files that are as they were before them, and no commit is empty", () => {
  fc.assert(
    fc.property(histories, treeArbitrary, (trees, tip) => {
      const [base = new Map<string, TreeEntry>()] = trees;
      const commits = replay(tip, between(trees));
      expect(commits.filter(({ changes }) => changes.length === 0)).toEqual([]);
      const after = applied(tip, commits);
      // What was on the way of a file from its old to its new content may be on the tip, too: it goes on from there.
      const foreign = [...tip].filter(([at, { id }]) => trees.every((tree) => tree.get(at)?.id !== id));
      expect(foreign.map(([at]) => [at, after.get(at)])).toEqual(foreign);
      const same = ["a", "b", "c"].filter((at) => tip.get(at)?.id === base.get(at)?.id);
      expect(same.map((at) => after.get(at))).toEqual(same.map((at) => trees.at(-1)?.get(at)));
    }),
  );
});

it("on a tip that has them, nothing is left of them, unless a file was twice the same on the way", () => {
  const history = [
    new Map(),
    new Map([["a", file(id("1"))]]),
    new Map([
      ["a", file(id("2"))],
      ["b", file(id("1"))],
    ]),
  ];
  expect(replay(history.at(-1) ?? new Map(), between(history))).toEqual([]);
});

it("which commits they are is read from one ref", () => {
  fc.assert(
    fc.property(fc.option(fc.constantFrom(id("a"), id("b")), { nil: undefined }), (base) => {
      expect(baseOfPending(pendingSubject(base))).toEqual(O.some(base));
    }),
  );
  expect(
    parseRefs(
      [
        `refs/journal/fetched ${id("1")} 1700000000 ${id("0")} subject`,
        `refs/journal/pending ${id("2")} 1700000000 ${id("3")} on ${id("4")}`,
        `refs/journal/tip ${id("5")} 1700000000  `,
        "",
      ].join("\n"),
    ),
  ).toEqual({ fetched: id("1"), fetchedAt: 1_700_000_000, pending: { head: id("3"), base: id("4") }, tip: id("5") });
  // Not of us, or not whole: there is nothing pending.
  expect(parseRefs(`refs/journal/pending ${id("2")} 1700000000 ${id("3")} subject\n`)).toEqual({});
});
