// The tree of a commit: its files by their paths, and what stands in the way of a further one.
import type { FilePath } from "./path.ts";

/** As `git ls-tree -r` lists it. */
export interface TreeEntry {
  /** Such as `100644`, a file, or `120000`, a symlink. */
  readonly mode: string;
  /** The id of the blob or, of a submodule, of the commit. */
  readonly id: string;
}

export type Tree = ReadonlyMap<string, TreeEntry>;

/** Neither a symlink nor a submodule. */
export const isFile = ({ mode }: TreeEntry): boolean => mode.startsWith("100");

/** All folders of a path, the outermost first. */
const foldersOf = (path: string): readonly string[] => {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
  return folders;
};

/**
 * What stands in the way of a file, said for people; undefined: nothing. `git fast-import` would replace it without a word.
 */
export const obstacles = (tree: Tree): ((path: FilePath) => string | undefined) => {
  const folders = new Set([...tree.keys()].flatMap(foldersOf));
  return (path) => {
    if (folders.has(path)) return `${path} is a folder`;
    const inTheWay = [...foldersOf(path), path].find((one) => {
      const entry = tree.get(one);
      return entry !== undefined && (one !== path || !isFile(entry));
    });
    const mode = inTheWay === undefined ? undefined : tree.get(inTheWay)?.mode;
    if (mode === undefined) return undefined;
    return `${inTheWay} is ${mode === "120000" ? "a symlink" : mode === "160000" ? "a submodule" : "a file"}`;
  };
};
