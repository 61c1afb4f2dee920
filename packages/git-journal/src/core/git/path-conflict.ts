// Finds what is in the way of a file: git would replace it without a word.
import type { FilePath } from "../path.ts";
import type { Commit } from "./commit.ts";
import type { Entry, Tree } from "./tree.ts";

/** Something that is not ours is where a file, or one of its folders, would be. */
export interface PathConflict {
  readonly path: FilePath;
  /** Where it is: the path itself, or one of its folders. */
  readonly at: string;
  readonly is: Entry["kind"] | "folder";
}

const foldersOf = (path: string): readonly string[] =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, n, segments) => segments.slice(0, n + 1).join("/"));

/** All folders of a tree. */
const folders = (tree: Tree): ReadonlySet<string> => {
  const all = new Set<string>();
  for (const path of tree.keys())
    for (const folder of foldersOf(path).toReversed()) {
      if (all.has(folder)) break;
      all.add(folder);
    }
  return all;
};

/**
 * Separates from these commits the changes that something is in the way of.
 *
 * Guarantees: what is left writes or removes only files that are none yet or are regular ones, in folders that are none yet or are
 *             folders; nothing is written through or over a symlink or submodule, and no file takes the place of a folder.
 */
export const withoutConflicts = (
  tree: Tree,
  commits: readonly Commit[],
): { readonly commits: readonly Commit[]; readonly conflicts: readonly PathConflict[] } => {
  const known = folders(tree);
  const conflictOf = (path: FilePath): PathConflict | undefined => {
    const own = tree.get(path);
    if (own !== undefined && own.kind !== "file") return { path, at: path, is: own.kind };
    if (known.has(path)) return { path, at: path, is: "folder" };
    const at = foldersOf(path).find((folder) => tree.has(folder));
    const entry = at === undefined ? undefined : tree.get(at);
    return at === undefined || entry === undefined ? undefined : { path, at, is: entry.kind };
  };
  const conflicts = new Map<FilePath, PathConflict>();
  for (const { path } of commits.flatMap(({ changes }) => changes)) {
    const conflict = conflicts.has(path) ? undefined : conflictOf(path);
    if (conflict !== undefined) conflicts.set(path, conflict);
  }
  return {
    commits: commits
      .map((commit) => ({ ...commit, changes: commit.changes.filter(({ path }) => !conflicts.has(path)) }))
      .filter(({ changes }) => changes.length > 0),
    conflicts: [...conflicts.values()],
  };
};

/** Such as `prod/core is a symlink: remove it …`. */
export const conflictMessage = ({ path, at, is }: PathConflict): string =>
  `${at} in the repository is a ${is}, so ${path} is not written: remove it, or take another baseFolder`;
