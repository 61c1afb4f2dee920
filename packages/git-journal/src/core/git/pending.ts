// Commits that were made and perhaps not pushed: how a clone keeps them, and how they are made again on another tip.
import * as O from "fp-ts/lib/Option.js";
import { type FilePath, filePath } from "../path.ts";
import type { Tree, TreeEntry } from "../tree.ts";
import type { Commit, FileChange } from "./commit.ts";
import { type ObjectId, objectId } from "./object-id.ts";

/**
 * The ref of pending commits points to one more commit, which is never pushed and says on what they are: so which commits are
 * pending is known from one ref, which changes at once or not at all.
 */
export const pendingSubject = (base: ObjectId | undefined): string => `on ${base ?? "nothing"}`;

/** Reads the base of pending commits. None: it was not written by us. Some of undefined: they are on nothing. */
export const baseOfPending = (subject: string): O.Option<ObjectId | undefined> => {
  const [, base = ""] = /^on (\w+)$/u.exec(subject) ?? [];
  return base === "nothing" ? O.some(undefined) : objectId(base);
};

/** A file that a commit has changed; `from` or `to` is undefined if there was, or is, none. */
export interface RecordedChange {
  readonly path: FilePath;
  readonly from: ObjectId | undefined;
  readonly to: ObjectId | undefined;
}

export interface RecordedCommit extends Omit<Commit, "changes"> {
  readonly changes: readonly RecordedChange[];
}

/** The format of `git log -z --raw` that {@link parseLog} reads. */
export const LOG_FORMAT = "%x01%an%x00%ae%x00%at%x00%B%x00";

const blobOf = (text: string): ObjectId | undefined => (/^0+$/u.test(text) ? undefined : O.toUndefined(objectId(text)));

const changesOf = (fields: readonly string[]): readonly RecordedChange[] =>
  fields.flatMap((field, n) => {
    const [, from = "", to = ""] = /^\n?:\d{6} \d{6} (\w+) (\w+) [A-Z]$/u.exec(field) ?? [];
    const path = filePath(fields[n + 1] ?? "");
    return to === "" || path === undefined ? [] : [{ path, from: blobOf(from), to: blobOf(to) }];
  });

/** Parses the output of `git log -z --raw` in {@link LOG_FORMAT}: commits in their order, of files that only we write. */
export const parseLog = (text: string): readonly RecordedCommit[] => {
  const fields = text.split("\0");
  const starts = fields.flatMap((field, n) => (field.startsWith("\u0001") ? [n] : []));
  return starts.map((start, n) => {
    const [name = "", email = "", at = "", message = ""] = fields.slice(start, start + 4);
    return {
      author: { name: name.slice(1), email },
      at: Number(at),
      message,
      changes: changesOf(fields.slice(start + 4, starts[n + 1])),
    };
  });
};

/**
 * Makes commits anew on another tree.
 *
 * Guarantees: a commit changes what it had changed, in the same order, or less; a file that somebody else has changed since is left
 *             to a comparison with what is live; on a tree that has all of it nothing is left.
 */
export const replay = (tree: Tree, recorded: readonly RecordedCommit[]): readonly Commit[] => {
  const now = new Map<string, TreeEntry>(tree);
  const apply = ({ path, from, to }: RecordedChange): readonly FileChange[] => {
    const is = now.get(path)?.id;
    if (is !== from || is === to) return [];
    if (to === undefined) {
      now.delete(path);
      return [{ path, to: "absent" }];
    }
    now.set(path, { kind: "file", id: to });
    return [{ path, to: "blob", blob: to }];
  };
  return recorded
    .map((commit) => ({ ...commit, changes: commit.changes.flatMap(apply) }))
    .filter(({ changes }) => changes.length > 0);
};
