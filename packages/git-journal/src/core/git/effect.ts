// Effects of a cycle as plain data, and what they answer.
import type * as E from "fp-ts/lib/Either.js";
import type { Tree } from "../tree.ts";
import type { Commit } from "./commit.ts";
import type { ObjectFormat } from "../blob-id.ts";
import type { GitFailure } from "./git-answer.ts";
import type { RecordedCommit } from "./pending.ts";
import type { Pending, Refs } from "./refs.ts";
import type { ObjectId } from "./object-id.ts";

/** One request to the file system or one git process: a crash falls before or after it, or into it. */
export type Effect<Read> =
  /** Removes what a dead process left in the clone: lock files, halves of packs. */
  | { readonly do: "prepare" }
  | { readonly do: "check" }
  /** Makes an empty clone in place of what is there. */
  | { readonly do: "make"; readonly format: ObjectFormat }
  | { readonly do: "discard" }
  | { readonly do: "fetch"; readonly depth: number }
  /** Asks where the server sends its clients. */
  | { readonly do: "locate" }
  | { readonly do: "readRefs" }
  /** Asks whether the commit is the fetched tip, or an ancestor of it. */
  | { readonly do: "isAncestor"; readonly commit: ObjectId }
  | { readonly do: "readPending"; readonly pending: Pending }
  | { readonly do: "list"; readonly commit: ObjectId; readonly folders: readonly string[] }
  | { readonly do: "readBlobs"; readonly ids: readonly string[]; readonly read: (content: Uint8Array) => Read }
  /** Makes commits, and sets the ref of pending commits: at once, or not at all. */
  | { readonly do: "import"; readonly base: ObjectId | undefined; readonly commits: readonly Commit[] }
  | { readonly do: "push"; readonly base: ObjectId | undefined; readonly head: ObjectId }
  /** Waits for some time between these, in ms, so that writers of one branch do not meet again. */
  | { readonly do: "wait"; readonly least: number; readonly most: number }
  /** Records the tip of the branch; nothing is pending. */
  | { readonly do: "settle"; readonly tip: ObjectId | undefined }
  | { readonly do: "repack" }
  | { readonly do: "prune" };

/** The answers of effects that succeed. */
export interface Results<Read> {
  readonly prepare: "present" | "absent";
  readonly check: null;
  readonly make: null;
  readonly discard: null;
  readonly fetch: null;
  /** The address; undefined: the server does not say. */
  readonly locate: string | undefined;
  readonly readRefs: Refs;
  readonly isAncestor: boolean;
  readonly readPending: readonly RecordedCommit[];
  readonly list: Tree;
  /** The results of reading, by the ids of the blobs. */
  readonly readBlobs: ReadonlyMap<string, Read>;
  /** The ids of the commits, in their order. */
  readonly import: readonly ObjectId[];
  /** `accepted` by the server, or `not sent`, since it might end later than this process may write. */
  readonly push: "accepted" | "not sent";
  readonly wait: null;
  readonly settle: null;
  readonly repack: null;
  readonly prune: null;
}

export type Answer<Read, Do extends keyof Results<Read>> = E.Either<GitFailure, Results<Read>[Do]>;
