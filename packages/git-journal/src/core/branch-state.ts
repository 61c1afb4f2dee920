/**
 * The state of a worker: what is wanted in its branch, what is live, whose changes are not pushed yet, and what git has answered.
 *
 * All of it can be found out again: by a list of the objects, and a fetch of the branch.
 */
import type { Phase } from "@janus/api";
import type { Instant } from "@janus/types";
import type { PlannedCommit } from "./batch.ts";
import type { ObjectFormat } from "./blob-id.ts";
import type { FileContent } from "./file-content.ts";
import type { Trouble } from "./git/git-answer.ts";
import type { ObjectId } from "./git/object-id.ts";
import type { PathConflict } from "./git/path-conflict.ts";
import { type History, NO_HISTORY } from "./history.ts";
import type { DestinationReport, JournaledBranch, JournaledDestination, Wanted } from "./journaled-branch.ts";
import type { KeptObject } from "./kept-object.ts";
import { type LargeMap, largeMap, valueAt } from "./large-map.ts";
import type { Ownership } from "./ownership.ts";
import type { FilePath } from "./path.ts";
import type { SelectedResource, SelectionRule, SelectionSettings } from "./selection.ts";
import type { Evidence, JournaledTransaction } from "./transactions.ts";

/** The known objects of a resource. */
export interface ListedResource {
  readonly version: string;
  readonly objects: LargeMap<FilePath, KeptObject>;
  /** Files of live objects that cannot be written, and why. */
  readonly spared: LargeMap<FilePath, { readonly because: string | undefined }>;
  /** The progress of the list: only a complete one tells which objects do not exist. */
  readonly list:
    | { readonly is: "begun" }
    | { readonly is: "complete" }
    /** `isAgain`: after another failure. */
    | { readonly is: "failed"; readonly because: string; readonly isAgain: boolean };
  /** Whether its files were compared with the branch in this process: what Transactions had changed before is committed. */
  readonly isResumed: boolean;
}

export interface DestinationState {
  readonly wanted: JournaledDestination;
  readonly formerRules: readonly SelectionRule[];
  /** Maps the keys of resources to what is known of them. */
  readonly resources: ReadonlyMap<string, ListedResource>;
  /** Keys of resources that were selected before, in this process. */
  readonly dropped: ReadonlySet<string>;
  /** The owner by the marker at the tip; undefined: no tip was seen. */
  readonly ownership: Ownership | undefined;
  /** The time from which on changes that the branch lacks are those of ended Transactions; undefined: not compared yet. */
  readonly resumesFrom: Instant | undefined;
  readonly lastCommit?: ObjectId;
  readonly lastPush?: Instant;
  readonly pushed: DestinationReport["pushed"];
}

/** The place from which a target of a Transaction is read. */
export interface TargetPlace {
  readonly destination: string;
  readonly resource: SelectedResource;
  readonly namespace?: string;
  readonly name: string;
}

export interface KnownTransaction {
  readonly transaction: JournaledTransaction;
  readonly places: ReadonlyMap<FilePath, TargetPlace>;
  readonly evidence: Evidence;
  /** Whether its commit is made, or it had ended before this process began. */
  readonly isDone: boolean;
}

/** The parts of a blob that are kept. */
export interface ReadBlob {
  readonly content: FileContent | undefined;
  /** The text, if it may be a marker. */
  readonly marker: string | undefined;
}

/** The result of a comparison for one destination. */
export interface ComparedDestination {
  readonly ownership: Ownership;
  readonly resumesFrom: Instant;
  /** Keys of the resources of which all objects were known. */
  readonly complete: ReadonlySet<string>;
  /** The files that it has in the commits. */
  readonly committed: ReadonlySet<FilePath>;
}

/** The result of comparing the live objects with a tip. */
export interface Comparison {
  readonly at: Instant;
  /** The commits that are to be made now. */
  readonly commits: readonly PlannedCommit[];
  /** Whether these are all that are due. */
  readonly isAll: boolean;
  /** The last touch that was there, and the last of {@link BranchState.toCompare}. */
  readonly upTo: number;
  readonly number: number;
  /** Transactions whose commits were due, with their phases. */
  readonly due: ReadonlyMap<string, Phase>;
  /** The number of files that differ, and are neither held nor in one of these commits. */
  readonly left: number;
  /** Maps the fingerprints of versions whose texts are not at hand to their files. */
  readonly missing: ReadonlyMap<string, FilePath>;
  readonly conflicts: readonly PathConflict[];
  /** Maps the names of the destinations that were compared to their results. */
  readonly destinations: ReadonlyMap<string, ComparedDestination>;
  readonly blobs: ReadonlyMap<string, ReadBlob>;
  readonly format: ObjectFormat;
  readonly held: ReadonlySet<FilePath>;
}

export interface BranchState {
  readonly branch: JournaledBranch;
  readonly gone: Wanted["gone"];
  readonly settings: SelectionSettings;
  readonly destinations: ReadonlyMap<string, DestinationState>;
  readonly transactions: ReadonlyMap<string, KnownTransaction>;
  /** Whether the Transactions were listed, or are not served. */
  readonly areTransactionsKnown: boolean;
  readonly history: History;
  /** The comparison that is due, since something may differ that no touch tells of; undefined: none is. */
  readonly toCompare: { readonly since: Instant; readonly isUrgent: boolean; readonly number: number } | undefined;
  /** The time of the last request for the tip. */
  readonly fetchedAt: Instant | undefined;
  readonly format: ObjectFormat;
  /** Maps ids to blobs of files that may be compared. */
  readonly blobs: LargeMap<string, ReadBlob>;
  readonly comparison: Comparison | undefined;
  /** Maps the last commit of a push to all of its commits, which the server may have. */
  readonly made: ReadonlyMap<ObjectId, readonly PlannedCommit[]>;
  /** The Lease of the branch. `awaited`: it is asked for; `anothers`: another process was found to hold it. */
  readonly lease: "none" | "awaited" | "anothers" | "held";
  readonly trouble: Trouble | undefined;
  readonly failures: number;
  readonly retryAt: Instant;
  /** Whether the branch has said what is live, once in this process. */
  readonly hasSettled: boolean;
  /** The time since which there was nothing to write; undefined: there is. */
  readonly idleSince: Instant | undefined;
}

export const initialBranch = (branch: JournaledBranch, settings: SelectionSettings): BranchState => ({
  branch,
  gone: new Set(),
  settings,
  destinations: new Map(),
  transactions: new Map(),
  areTransactionsKnown: false,
  history: NO_HISTORY,
  toCompare: undefined,
  fetchedAt: undefined,
  format: "sha1",
  blobs: largeMap(),
  comparison: undefined,
  made: new Map(),
  lease: "none",
  trouble: undefined,
  failures: 0,
  retryAt: 0,
  hasSettled: false,
  idleSince: undefined,
});

/** Returns the destinations that may be written. */
export const writable = ({ destinations }: BranchState): readonly DestinationState[] =>
  [...destinations.values()].filter(({ wanted }) => !wanted.isBlocked && wanted.rules.length > 0);

/** Finds the object of a file. */
export const objectAt = (
  { destinations }: Pick<BranchState, "destinations">,
  path: FilePath,
): KeptObject | undefined => {
  for (const { resources } of destinations.values())
    for (const { objects } of resources.values()) {
      const object = valueAt(objects, path);
      if (object !== undefined) return object;
    }
  return undefined;
};
