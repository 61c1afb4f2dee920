// Takes out of commits what something else is in the way of: git would replace it without a word.
import type { FilePath } from "../path.ts";
import { obstacles, type Tree } from "../tree.ts";
import type { Commit } from "./commit.ts";

export interface PathConflict {
  readonly path: FilePath;
  /** The obstacle, such as `prod/core is a symlink`. */
  readonly because: string;
}

/**
 * Separates from these commits the changes that something is in the way of.
 *
 * Guarantees: the other changes write or remove only files that are new or regular, in folders that are new or real ones; nothing
 *             is written through or over a symlink or submodule, and no file takes the place of a folder.
 */
export const withoutConflicts = (
  tree: Tree,
  commits: readonly Commit[],
): { readonly commits: readonly Commit[]; readonly conflicts: readonly PathConflict[] } => {
  const obstacle = obstacles(tree);
  const paths = new Set(commits.flatMap(({ changes }) => changes.map(({ path }) => path)));
  const conflicts = [...paths].flatMap((path) => {
    const because = obstacle(path);
    return because === undefined ? [] : [{ path, because }];
  });
  const blocked = new Set(conflicts.map(({ path }) => path));
  return {
    commits: commits
      .map((commit) => ({ ...commit, changes: commit.changes.filter(({ path }) => !blocked.has(path)) }))
      .filter(({ changes }) => changes.length > 0),
    conflicts,
  };
};
