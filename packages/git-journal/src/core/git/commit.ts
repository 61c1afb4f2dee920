// Commits that are to be made: who changed which files, and how.
import type { FilePath } from "../path.ts";
import type { ObjectId } from "./tree.ts";

export interface Person {
  readonly name: string;
  readonly email: string;
}

export type FileChange =
  | { readonly path: FilePath; readonly to: "content"; readonly content: Uint8Array }
  /** What the clone has already. */
  | { readonly path: FilePath; readonly to: "blob"; readonly blob: ObjectId }
  | { readonly path: FilePath; readonly to: "absent" };

export interface Commit {
  readonly author: Person;
  /** In seconds since 1970. */
  readonly at: number;
  /** Subject, body and trailers. */
  readonly message: string;
  /** At most one for each path. */
  readonly changes: readonly FileChange[];
}

/** Of every commit, and the author where no other is known. As upstream. */
export const COMMITTER: Person = { name: "GitOps Reverser", email: "gitops-reverser@configbutler.ai" };
