// The tree of a commit: its files by their paths, and what stands in the way of a further one.
import type { FilePath } from "./path.ts";

export interface TreeEntry {
  readonly kind: "file" | "symlink" | "submodule";
  /** The id of the blob or, of a submodule, of the commit. */
  readonly id: string;
}

/** Maps paths from the root to files. Folders are not in it: they are where their files are. */
export type Tree = ReadonlyMap<string, TreeEntry>;

/** Returns all folders of a path, the outermost first. */
const foldersOf = (path: string): readonly string[] => {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
  return folders;
};

/**
 * Finds what stands in the way of a file, said for people; undefined: nothing. `git fast-import` would replace it without a word.
 */
export const obstacles = (tree: Tree): ((path: FilePath) => string | undefined) => {
  const folders = new Set([...tree.keys()].flatMap(foldersOf));
  return (path) => {
    if (folders.has(path)) return `${path} is a folder`;
    const inTheWay = [...foldersOf(path), path].find((one) => {
      const entry = tree.get(one);
      return entry !== undefined && (one !== path || entry.kind !== "file");
    });
    return inTheWay === undefined ? undefined : `${inTheWay} is a ${tree.get(inTheWay)?.kind}`;
  };
};
