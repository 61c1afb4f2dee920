// Events of a branch, as plain data: what its worker is told of the cluster and of git.
import type { Transaction } from "@janus/api";
import type { PlannedCommit } from "./batch.ts";
import type { Comparison } from "./branch-state.ts";
import type { Outcome } from "./git/cycle.ts";
import type { Trouble } from "./git/git-answer.ts";
import type { ObjectId } from "./git/object-id.ts";
import type { By } from "./history.ts";
import type { JournaledBranch, Wanted } from "./journaled-branch.ts";
import type { Ingested, KeptObject } from "./kept-object.ts";
import type { FilePath } from "./path.ts";
import type { SelectionSettings } from "./selection.ts";

/** The part of an object that is kept; its text is not. */
export type SeenObject =
  | Exclude<Ingested, { readonly type: "kept" }>
  | { readonly type: "kept"; readonly object: KeptObject };

/** A file of a destination, with what its object wants it to say. */
export interface SeenFile {
  readonly destination: string;
  /** The key of the resource. */
  readonly resource: string;
  readonly path: FilePath;
  readonly ingested: SeenObject;
}

export type BranchEvent =
  | {
      readonly type: "wanted";
      readonly branch: JournaledBranch;
      readonly gone: Wanted["gone"];
      readonly settings: SelectionSettings;
    }
  /** A list of a resource begins: what is known of its objects stays until it ends. */
  | { readonly type: "listing"; readonly resource: string; readonly version: string }
  /** A list has ended: the objects of these files are all that exist. */
  | {
      readonly type: "listed";
      readonly resource: string;
      readonly version: string;
      readonly files: readonly SeenFile[];
    }
  /** The list has ended again: all objects that exist were seen. */
  | { readonly type: "complete"; readonly resource: string }
  | { readonly type: "listFailed"; readonly resource: string; readonly because: string }
  /** An object was seen, or its end. */
  | {
      readonly type: "seen";
      readonly file: SeenFile;
      /** The author, where no mark of a Transaction tells. */
      readonly by: By;
    }
  | { readonly type: "transaction"; readonly transaction: Transaction }
  | { readonly type: "transactionGone"; readonly uid: string }
  | { readonly type: "transactionsKnown" }
  /** A target of a Transaction was read live. */
  | { readonly type: "targetRead"; readonly uid: string; readonly file: SeenFile }
  | { readonly type: "lease"; readonly is: "none" | "awaited" | "anothers" | "held" }
  /** The branch has the commits that were made up to this one. */
  | { readonly type: "landed"; readonly head: ObjectId | undefined }
  | { readonly type: "compared"; readonly comparison: Comparison }
  /** The commits of the last comparison are made, up to this one. */
  | { readonly type: "made"; readonly head: ObjectId; readonly commits: readonly PlannedCommit[] }
  /** Texts that were missing were looked for. */
  | { readonly type: "loaded"; readonly lost: ReadonlySet<FilePath> }
  | { readonly type: "ended"; readonly outcomes: readonly Outcome[]; readonly isFresh: boolean }
  /** Git could not even be begun, for lack of credentials. */
  | ({ readonly type: "troubled" } & Trouble);
