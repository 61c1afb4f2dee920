// The types between configuration and workers: branches that are wanted in Git, and reports of what became of destinations.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { limitsFor } from "./batch.ts";
import type { Readiness } from "./conditions.ts";
import type { Destination } from "./destinations.ts";
import type { BranchName } from "./git/branch-name.ts";
import type { Labels } from "./label-selector.ts";
import type { Contest } from "./ownership.ts";
import type { BaseFolder } from "./path.ts";
import type { RepositoryUrl } from "./repository-url.ts";
import type { SelectedResource, SelectionRule, SelectionSettings } from "./selection.ts";

/** A destination that is to be written: what is selected for it. */
export interface JournaledDestination {
  readonly destination: Destination;
  /** Of its Ready rules. */
  readonly rules: readonly SelectionRule[];
  readonly selected: readonly SelectedResource[];
  /** Another destination has the same folder: nothing is written. */
  readonly isBlocked: boolean;
  /** Others may have the same folder. */
  readonly contest?: Contest;
  /** False: no file is deleted, since it has no Ready rule, or one whose selector is wrong, so that nobody knows what it selects. */
  readonly deletes: boolean;
  /** Of other destinations of the same branch, in which its own is, also where they are written with other credentials, or by another URL. */
  readonly otherFolders: readonly BaseFolder[];
}

/**
 * All that is written to one branch of one repository, with the same credentials: one worker.
 *
 * Nobody writes with credentials that another one was given: two GitRepoConfigs with the same URL and different Secrets are two
 * branches here, with different keys. So are two URLs of which hosts have one repository, such as with and without `.git`, since a
 * server may have two. They meet as two clusters do, by compare-and-swap; and of a folder, one destination of all is the owner.
 */
export interface JournaledBranch {
  /** Names the clone and the Lease. */
  readonly key: string;
  readonly repository: RepositoryUrl;
  /** Of the oldest GitRepoConfig. */
  readonly namespace: string;
  readonly branch: BranchName;
  /** `namespace/name` of the Secret with the credentials. */
  readonly secret: string | undefined;
  /** Of the oldest GitRepoConfig. */
  readonly limits: ReturnType<typeof limitsFor>;
  /** The oldest first. */
  readonly destinations: readonly JournaledDestination[];
}

/** What the cluster wants in Git, as far as it is known. */
export interface Wanted {
  /** By their keys. */
  readonly branches: ReadonlyMap<string, JournaledBranch>;
  /** Keys of resources that are certainly not served; nobody can list them all. */
  readonly gone: Pick<ReadonlySet<string>, "has">;
  readonly settings: SelectionSettings;
  /** Of all namespaces. */
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
}

/** What became of a destination. */
export interface DestinationReport {
  readonly readiness: Readiness;
  /** The place in which its own marker is, see {@link placeOf}. */
  readonly owns?: string;
  /** With whom it has one folder, although it writes there all the same. */
  readonly conflict?: string;
  readonly lastCommit?: string;
  /** RFC 3339. */
  readonly lastPushTime?: string;
  /** All that was pushed for it since the start of the process. */
  readonly pushed: { readonly commits: number; readonly files: number };
  /** Files of live objects. */
  readonly objects: number;
  /** Changes that are not pushed. */
  readonly pending: number;
}

/** A folder, as one worker writes it. */
export const placeOf = (branchKey: string, folder: BaseFolder): string => `${branchKey} ${folder}`;

/**
 * The key of a branch: equal for all spellings of its repository.
 *
 * @param credentials tells apart what is written with others
 */
export const branchKey = ({ key }: Pick<RepositoryUrl, "key">, branch: string, credentials: string): string =>
  bytesToHex(sha256(utf8ToBytes([key, branch, credentials].join("\n")))).slice(0, 16);
