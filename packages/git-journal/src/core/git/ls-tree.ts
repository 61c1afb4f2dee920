// Parses what git ls-tree prints of a commit, as far as it concerns some folders.
import * as O from "fp-ts/lib/Option.js";
import type { TreeEntry } from "../tree.ts";
import { objectId } from "./object-id.ts";

const KINDS: ReadonlyMap<string, TreeEntry["kind"]> = new Map([
  ["100644", "file"],
  ["100755", "file"],
  ["100664", "file"],
  ["120000", "symlink"],
  ["160000", "submodule"],
]);

/** Parses one record of `git ls-tree -r -z`, without its NUL. */
export const parseEntry = (record: string): O.Option<readonly [path: string, entry: TreeEntry]> => {
  const [, mode = "", id = "", path = ""] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/su.exec(record) ?? [];
  const kind = KINDS.get(mode);
  return kind === undefined || O.isNone(objectId(id)) ? O.none : O.some([path, { kind, id }]);
};

/** Whether what is at the path belongs to one of these folders, or lies on the way to one. The root is the empty string. */
export const concerns = (folders: readonly string[], path: string): boolean =>
  folders.some(
    (folder) => folder === "" || path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`),
  );
