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

/** A destination that is to be written, and what is selected for it. */
export interface JournaledDestination {
  readonly destination: Destination;
  /** The selections of its Ready rules. */
  readonly rules: readonly SelectionRule[];
  readonly selected: readonly SelectedResource[];
  /** Whether another destination has the same folder: then nothing is written. */
  readonly isBlocked: boolean;
  /** The other destinations that may have the same folder. */
  readonly contest?: Contest;
  /** Whether files are deleted: not without a Ready rule, nor if the selector of a rule is wrong, and may select anything. */
  readonly deletes: boolean;
  /** The folders of other destinations in which its own is, of the same branch by any URL and with any credentials. */
  readonly otherFolders: readonly BaseFolder[];
}

/**
 * A branch of one repository, with all that is written to it with the same credentials: one worker.
 *
 * No object has others written with its credentials: two GitRepoConfigs with the same URL and different Secrets are two
 * branches here, with different keys. So are two URLs of which hosts have one repository, such as with and without `.git`, since a
 * server may have two. They meet as two clusters do, by compare-and-swap; and of a folder, one destination of all is the owner.
 */
export interface JournaledBranch {
  /** The key, which names the clone and the Lease. */
  readonly key: string;
  readonly repository: RepositoryUrl;
  /** The namespace of the oldest GitRepoConfig. */
  readonly namespace: string;
  readonly branch: BranchName;
  /** The `namespace/name` of the Secret with the credentials. */
  readonly secret: string | undefined;
  /** The limits of the oldest GitRepoConfig. */
  readonly limits: ReturnType<typeof limitsFor>;
  /** The destinations, the oldest first. */
  readonly destinations: readonly JournaledDestination[];
}

/** All that the cluster wants in Git, as far as it is known. */
export interface Wanted {
  /** Maps keys to branches. */
  readonly branches: ReadonlyMap<string, JournaledBranch>;
  /** The keys of resources that are certainly not served; the set cannot be listed. */
  readonly gone: Pick<ReadonlySet<string>, "has">;
  readonly settings: SelectionSettings;
  /** Maps all namespaces to their labels. */
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
}

/** A report of what became of a destination. */
export interface DestinationReport {
  readonly readiness: Readiness;
  /** The place of its own marker, see {@link placeOf}. */
  readonly owns?: string;
  /** The message of a destination that writes to a folder which is another's. */
  readonly conflict?: string;
  readonly lastCommit?: string;
  /** The time of the last push, as RFC 3339. */
  readonly lastPushTime?: string;
  /** The commits and files that were pushed for it since the start of the process. */
  readonly pushed: { readonly commits: number; readonly files: number };
  /** The number of files of live objects. */
  readonly objects: number;
  /** The number of changes that are not pushed. */
  readonly pending: number;
}

/** Names a folder as one worker writes it. */
export const placeOf = (branchKey: string, folder: BaseFolder): string => `${branchKey} ${folder}`;

/**
 * Makes the key of a branch: equal for all spellings of its repository.
 *
 * @param credentials tells apart branches that are written with different credentials
 */
export const branchKey = ({ key }: Pick<RepositoryUrl, "key">, branch: string, credentials: string): string =>
  bytesToHex(sha256(utf8ToBytes([key, branch, credentials].join("\n")))).slice(0, 16);
