// Obstacles in the way of a file, and the part of commits that is left without them.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Commit } from "../../../packages/git-journal/src/core/git/commit.ts";
import { withoutConflicts } from "../../../packages/git-journal/src/core/git/path-conflict.ts";
import type { ObjectId } from "../../../packages/git-journal/src/core/git/object-id.ts";
import type { FilePath } from "../../../packages/git-journal/src/core/path.ts";
import type { Tree, TreeEntry } from "../../../packages/git-journal/src/core/tree.ts";

const paths = fc
  .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 })
  .map((segments) => segments.join("/"));

/** A tree that git can have: nothing is below a file. */
const trees = fc
  .dictionary(paths, fc.constantFrom<TreeEntry["kind"]>("file", "symlink", "submodule"), { noNullPrototype: true })
  .map((kinds): Tree => {
    const all = Object.entries(kinds);
    const isBelow = (path: string): boolean => all.some(([other]) => path.startsWith(`${other}/`));
    return new Map(all.filter(([path]) => !isBelow(path)).map(([path, kind]) => [path, { kind, id: path }]));
  });

const commitOf = (changed: readonly string[]): Commit => ({
  author: { name: "", email: "" },
  at: 0,
  message: "",
  changes: changed.map((path, n) =>
    n % 2 === 0
      ? { path: path as FilePath, to: "blob", blob: "new" as ObjectId }
      : { path: path as FilePath, to: "absent" },
  ),
});

/** As git fast-import applies it: a file takes the place of a folder, and a folder of whatever is in its way. */
const applied = (tree: Tree, path: string): Tree =>
  new Map(
    [...tree].filter(([other]) => !other.startsWith(`${path}/`) && other !== path && !path.startsWith(`${other}/`)),
  );

it("of what is not ours nothing goes: neither symlinks and submodules, nor files for folders, nor folders for files", () => {
  fc.assert(
    fc.property(trees, fc.uniqueArray(paths), (tree, changed) => {
      const { commits, conflicts } = withoutConflicts(tree, [commitOf(changed)]);
      const written = commits.flatMap(({ changes }) => changes.map(({ path }) => path));
      for (const path of written) {
        const lost = [...tree].filter(([other]) => !applied(tree, path).has(other));
        expect(lost.filter(([other, { kind }]) => other !== path || kind !== "file")).toEqual([]);
      }
      // All others are conflicts, and told where.
      expect(new Set([...written, ...conflicts.map(({ path }) => path)])).toEqual(new Set(changed));
      const because = conflicts.map((one) => [one.path, one.because] as const);
      expect(because.filter(([path, text]) => !`${path}/`.startsWith(`${text.split(" ")[0]}/`))).toEqual([]);
    }),
  );
});

it("a commit of which nothing is left is none", () => {
  const tree: Tree = new Map([["a", { kind: "symlink", id: "1" }]]);
  expect(withoutConflicts(tree, [commitOf(["a/b"]), commitOf(["b"])])).toMatchObject({
    commits: [{ changes: [{ path: "b" }] }],
    conflicts: [{ path: "a/b", because: "a is a symlink" }],
  });
});
