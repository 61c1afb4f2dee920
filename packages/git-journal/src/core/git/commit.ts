// Commits that are to be made: who changed which files, and how.
import type { GitIdentity } from "../commit-author.ts";
import type { FilePath } from "../path.ts";
import type { ObjectId } from "./object-id.ts";

export type FileChange =
  | { readonly path: FilePath; readonly to: "content"; readonly content: Uint8Array }
  /** A blob that the clone has already. */
  | { readonly path: FilePath; readonly to: "blob"; readonly blob: ObjectId }
  | { readonly path: FilePath; readonly to: "absent" };

/** A commit that is to be made. The committer is always the bot. */
export interface Commit {
  readonly author: GitIdentity;
  /** The time in whole seconds since 1970. */
  readonly at: number;
  /** The subject, body and trailers. */
  readonly message: string;
  /** The changes, at most one for each path. */
  readonly changes: readonly FileChange[];
}
