// Divides destinations among workers: one for each branch, and for the credentials with which it is written.
import { type BatchLimits, limitsFor } from "./batch.ts";
import type { Destination } from "./destinations.ts";
import type { ServedResource } from "./discovery.ts";
import { branchKey, type JournaledBranch, type JournaledDestination } from "./journaled-branch.ts";
import { configKey, type Located, secretOf } from "./located.ts";
import type { Claims } from "./ownership.ts";
import { type BaseFolder, ROOT } from "./path.ts";
import { selectedResources, type SelectionRule, type SelectionSettings } from "./selection.ts";

/** One of the rules that write to a destination. */
export interface Written {
  /** The name of the rule in messages, such as `WatchRule shop/all`. */
  readonly rule: string;
  readonly to: Located;
  /** The selections of the rule; undefined: its selector is wrong. */
  readonly selects: readonly SelectionRule[] | undefined;
}

/** Names the branch in a form that is the same for all URLs of its repository. */
export const branchOf = ({ destination: { repository }, branch }: Located): string =>
  `${repository.repository}\n${branch}`;

/** Names the branch by the URL by which it is fetched and pushed. */
const remoteOf = ({ destination: { repository }, branch }: Located): string => `${repository.key}\n${branch}`;

/** Names the credentials: by the Secret, or the namespace without one; those in a URL by the GitRepoConfig, never by text. */
export const credentialsOf = ({ destination: { config, repository } }: Located): string =>
  [
    secretOf(config) ?? `${config.metadata.namespace}/`,
    repository.protocol !== "ssh" && repository.user !== undefined ? `GitRepoConfig ${configKey(config)}` : "",
  ].join("\n");

/** The key of the branch in which a destination is written. */
export const keyOf = (at: Located): string => branchKey(at.destination.repository, at.branch, credentialsOf(at));

const ageOf = ({ config: { metadata } }: Destination): string => `${metadata.creationTimestamp} ${metadata.uid}`;

const byAge = (a: Located, b: Located): number => {
  const [one, other] = [a, b].map(({ destination }) => `${ageOf(destination)} ${destination.name}`);
  return (one ?? "") < (other ?? "") ? -1 : 1;
};

export interface Division {
  /** Maps names to all destinations, also those that no rule writes to. */
  readonly places: ReadonlyMap<string, Located>;
  readonly rulesTo: ReadonlyMap<string, readonly Written[]>;
  readonly claims: Claims;
  readonly served: readonly ServedResource[];
  readonly selection: SelectionSettings;
  readonly limits: BatchLimits;
}

const placeKey = (at: Located, folder: string): string => `${branchOf(at)}\n${folder}`;

/** The folders in which a folder is, the root first. */
const parents = (folder: BaseFolder): readonly string[] => {
  const segments = folder.split("/");
  return folder === ROOT ? [] : segments.map((_, at) => segments.slice(0, at).join("/"));
};

/** Maps branch and folder to the folders of destinations. */
const foldersOf = (places: Iterable<Located>): ReadonlyMap<string, BaseFolder> =>
  new Map([...places].map((at) => [placeKey(at, at.destination.folder), at.destination.folder]));

const journaled = (
  at: Located,
  all: ReadonlyMap<string, BaseFolder>,
  { rulesTo, claims, served, selection }: Division,
): JournaledDestination => {
  const { name, folder } = at.destination;
  const writers = rulesTo.get(name) ?? [];
  const rules = writers.flatMap(({ selects }) => selects ?? []);
  const contest = claims.contests.get(name);
  return {
    destination: at.destination,
    rules,
    selected: selectedResources(rules, served, selection),
    isBlocked: claims.conflicts.has(name),
    ...(contest === undefined ? {} : { contest }),
    deletes: rules.length > 0 && writers.every(({ selects }) => selects !== undefined),
    otherFolders: parents(folder).flatMap((parent) => all.get(placeKey(at, parent)) ?? []),
  };
};

/**
 * Divides destinations among branches, by the keys of these: each has the destinations that a rule writes to, the oldest first.
 *
 * Guarantees: nobody writes with credentials that only another's GitRepoConfig names, nor to a URL that is not a spelling of its own; of no
 *             other namespace is there anything on which the key or the limits of a branch depend.
 */
export const journaledBranches = (division: Division): ReadonlyMap<string, JournaledBranch> => {
  const { places, rulesTo, limits } = division;
  const folders = foldersOf(places.values());
  const inUse = [...places.values()].filter(({ destination }) => rulesTo.has(destination.name));
  const groups = Map.groupBy(inUse.toSorted(byAge), (at) => `${remoteOf(at)}\n${credentialsOf(at)}`);
  return new Map(
    [...groups.values()].flatMap((members) => {
      const [first] = members;
      if (first === undefined) return [];
      const { repository, config } = first.destination;
      const key = keyOf(first);
      const branch: JournaledBranch = {
        key,
        repository,
        namespace: config.metadata.namespace ?? "",
        branch: first.branch,
        secret: secretOf(config),
        limits: limitsFor(limits, config.spec),
        destinations: members.map((one) => journaled(one, folders, division)),
      };
      return [[key, branch]];
    }),
  );
};
