// What the cluster wants in Git now, branch by branch, and what became of it.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { limitsFor } from "./batch.ts";
import type { Readiness } from "./conditions.ts";
import type { Destination } from "./destinations.ts";
import type { BranchName } from "./git/branch-name.ts";
import type { Labels } from "./label-selector.ts";
import type { RepositoryUrl } from "./repository-url.ts";
import type { SelectedResource, SelectionRule, SelectionSettings } from "./selection.ts";

/** A destination that is to be written: what is selected for it. */
export interface JournaledDestination {
  readonly destination: Destination;
  /** Of its Ready rules. */
  readonly rules: readonly SelectionRule[];
  readonly selected: readonly SelectedResource[];
  /** An older destination has the same folder: nothing is written. */
  readonly isBlocked: boolean;
  /** False: no file is deleted, since it has no Ready rule, or one whose selector is wrong, so that nobody knows what it selects. */
  readonly deletes: boolean;
}

/** All that is written to one branch of one repository: one worker. */
export interface JournaledBranch {
  /** Names the clone and the Lease. */
  readonly key: string;
  readonly repository: RepositoryUrl;
  readonly branch: BranchName;
  /** `namespace/name` of the Secret with the credentials: that of the oldest destination. */
  readonly secret: string | undefined;
  readonly limits: ReturnType<typeof limitsFor>;
  /** The oldest first. */
  readonly destinations: readonly JournaledDestination[];
}

/** What the cluster wants in Git, as far as it is known. */
export interface Wanted {
  /** By their keys. */
  readonly branches: ReadonlyMap<string, JournaledBranch>;
  /** Keys of resources that were served, and certainly are not any more. */
  readonly gone: ReadonlySet<string>;
  readonly settings: SelectionSettings;
  /** Of all namespaces. */
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
}

/** What became of a destination. */
export interface DestinationReport {
  readonly readiness: Readiness;
  /** With whom it has one folder, although it writes there all the same. */
  readonly conflict?: string;
  readonly lastCommit?: string;
  /** RFC 3339. */
  readonly lastPushTime?: string;
  /** Files of live objects. */
  readonly objects: number;
  /** Changes that are not pushed. */
  readonly pending: number;
  /** Resources whose files are not touched, and why, such as `configmaps: 403 …`. */
  readonly incomplete: readonly string[];
}

/** The key of a branch: equal for all spellings of its repository. */
export const branchKey = ({ key }: Pick<RepositoryUrl, "key">, branch: string): string =>
  bytesToHex(sha256(utf8ToBytes(`${key}\n${branch}`))).slice(0, 16);
