// The tree of a commit: which object is at each path, and what git prints of it.
import * as O from "fp-ts/lib/Option.js";

/** The name of a git object: 40 hex digits, or 64 where the repository is of sha256. */
export type ObjectId = string & { readonly ObjectId: unique symbol };

/** Of all that git prints, only this is used in an argument of another git process. */
export const objectId = (text: string): O.Option<ObjectId> =>
  /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(text) ? O.some(text as ObjectId) : O.none;

export interface Entry {
  readonly kind: "file" | "symlink" | "submodule";
  readonly id: ObjectId;
}

/** By path, from the root. Folders are not in it: they are where their files are. */
export type Tree = ReadonlyMap<string, Entry>;

const KINDS: ReadonlyMap<string, Entry["kind"]> = new Map([
  ["100644", "file"],
  ["100755", "file"],
  ["100664", "file"],
  ["120000", "symlink"],
  ["160000", "submodule"],
]);

/** Parses one record of `git ls-tree -r -z`, without its NUL. */
export const parseEntry = (record: string): O.Option<readonly [path: string, entry: Entry]> => {
  const [, mode = "", id = "", path = ""] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/su.exec(record) ?? [];
  const kind = KINDS.get(mode);
  const name = objectId(id);
  return kind === undefined || O.isNone(name) ? O.none : O.some([path, { kind, id: name.value }]);
};

/** Whether what is at the path belongs to one of these folders, or lies on the way to one. The root is the empty string. */
export const concerns = (folders: readonly string[], path: string): boolean =>
  folders.some(
    (folder) => folder === "" || path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`),
  );
