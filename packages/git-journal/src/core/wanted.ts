/**
 * Makes of the objects of the four kinds, and of what the API server serves, what is wanted in Git.
 */
import * as E from "fp-ts/lib/Either.js";
import { branchesOf, type GitRepoConfig } from "../api/git-repo-config.ts";
import type { GitDestination } from "../api/git-destination.ts";
import type { NamespacedName } from "../api/references.ts";
import type { ClusterWatchRule, WatchRule } from "../api/watch-rule.ts";
import { type BatchLimits, limitsFor } from "./batch.ts";
import { decodedObjects, type Failed, type Kind, objectId, type Objects, refused, rightOnes } from "./configured.ts";
import { type Destination, type Known, resolveDestination, resolveRule, type Unresolved } from "./destinations.ts";
import type { ServedResource } from "./discovery.ts";
import { type BranchName, branchName } from "./git/branch-name.ts";
import { branchKey, type JournaledBranch, type JournaledDestination, type Wanted } from "./journaled-branch.ts";
import type { Labels } from "./label-selector.ts";
import { type Claim, conflictingClaims } from "./ownership.ts";
import { repositoryUrl, type RepositoryUrl } from "./repository-url.ts";
import {
  rulesOfClusterWatchRule,
  rulesOfWatchRule,
  selectedResources,
  selectionFindings,
  type SelectionRule,
  type SelectionSettings,
} from "./selection.ts";

/** What is known of the cluster. */
export interface ClusterState {
  readonly objects: Objects;
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
  readonly served: readonly ServedResource[];
  readonly gone: Wanted["gone"];
}

export interface JournalSettings {
  readonly selection: SelectionSettings;
  readonly limits: BatchLimits;
}

/** A repository of which the server is asked whether it can be used. */
export interface Repository {
  readonly url: RepositoryUrl;
  readonly branches: readonly [BranchName, ...BranchName[]];
  /** `namespace/name` of the Secret. */
  readonly secret: string | undefined;
}

/** A destination, and what is said of it without git. */
export interface Placed {
  readonly destination: Destination;
  readonly branch: BranchName;
  /** The key of its GitRepoConfig. */
  readonly config: string;
  /** Of its worker; undefined: no rule writes there. */
  readonly branchKey: string | undefined;
  /** It has the folder of an older one. */
  readonly blocked: Failed | undefined;
  /** Why it has no rule, if it has none. */
  readonly withoutRules: string | undefined;
}

/** A rule, and where it writes. */
export interface Writing {
  /** By its name; see {@link Destination}. */
  readonly destination: string;
  /** The GitDestination; undefined: the rule names the repository directly. */
  readonly through: string | undefined;
  readonly config: string;
  /** What it says of resources and gets not. */
  readonly findings: readonly string[];
}

type Judged<A> = ReadonlyMap<string, E.Either<Failed, A>>;

/** What follows from the objects alone; on the left what is wrong with each. */
export interface Resolution {
  readonly wanted: Wanted;
  readonly repositories: Judged<Repository>;
  readonly destinations: Judged<Placed>;
  /** The implicit ones, of rules that name a repository directly, by the names of their destinations. */
  readonly implicit: ReadonlyMap<string, Placed>;
  readonly rules: Readonly<Record<"WatchRule" | "ClusterWatchRule", Judged<Writing>>>;
}

/** They may be fixed by another object that comes, or changes: it is looked again then. */
const PASSING: ReadonlySet<Unresolved["reason"]> = new Set(["GitDestinationNotFound", "GitRepoConfigNotFound"]);

const unresolved = ({ reason, message }: Unresolved): Failed => ({
  type: "failed",
  reason,
  message,
  lasts: !PASSING.has(reason),
});

/** Of an object that depends on this one, which is wrong itself. */
export const notReady = (kind: "GitDestination" | "GitRepoConfig", key: string, cause: Failed): Failed => ({
  type: "failed",
  reason: `${kind}NotReady`,
  message: `${kind} ${key} is not Ready (${cause.reason}): ${cause.message}`,
  lasts: cause.lasts,
});

const referred = ({ name, namespace }: NamespacedName, from: string | undefined): string => `${namespace ?? from}/${name}`;

const keyOf = ({ metadata: { namespace, name } }: Pick<GitRepoConfig, "metadata">): string => `${namespace}/${name}`;

const secretOf = ({ metadata, spec }: GitRepoConfig): string | undefined =>
  spec.secretRef === undefined ? undefined : `${metadata.namespace}/${spec.secretRef.name}`;

const checkedBranch = (config: string, branch: string): E.Either<Failed, BranchName> =>
  E.mapLeft((why: string) => refused("BranchNotAllowed", `GitRepoConfig ${config}: ${why}`))(branchName(branch));

const repositoryOf = (config: GitRepoConfig): E.Either<Failed, Repository> =>
  E.flatMap(
    E.mapLeft((why: string) => refused("InvalidURL", `${why}: change it in GitRepoConfig ${keyOf(config)}`))(
      repositoryUrl(config.spec.repoUrl),
    ),
    (url) => {
      const names = branchesOf(config.spec).map((one) => checkedBranch(keyOf(config), one));
      const [first, ...others] = names.flatMap((one) => (E.isRight(one) ? [one.right] : []));
      return first === undefined
        ? E.left(names.find(E.isLeft)?.left ?? refused("BranchNotAllowed", "set allowedBranches (or branch)"))
        : E.right({ url, branches: [first, ...others], secret: secretOf(config) });
    },
  );

interface Located {
  readonly destination: Destination;
  readonly branch: BranchName;
}

const located = (destination: Destination): E.Either<Failed, Located> =>
  E.map((branch: BranchName) => ({ destination, branch }))(checkedBranch(keyOf(destination.config), destination.branch));

/** A reference to an object that cannot be decoded is one to an object that is there. */
const brokenOne = (
  kind: "GitDestination" | "GitRepoConfig",
  key: string,
  all: ReadonlyMap<string, E.Either<Failed, unknown>>,
): E.Either<Failed, undefined> => {
  const one = all.get(key);
  return one !== undefined && E.isLeft(one) ? E.left(notReady(kind, key, one.left)) : E.right(undefined);
};

/** With whose credentials it is written. Those in a URL are of its own GitRepoConfig, and never part of a name. */
const credentialsOf = ({ config, repository }: Destination): string =>
  [
    secretOf(config) ?? "",
    repository.protocol !== "ssh" && repository.user !== undefined ? `GitRepoConfig ${keyOf(config)}` : "",
  ].join("\n");

const byAge = (a: Destination, b: Destination): number => {
  const [one, other] = [a, b].map(({ config: { metadata } }) => `${metadata.creationTimestamp} ${metadata.uid}`);
  return (one ?? "") < (other ?? "") ? -1 : one === other ? 0 : 1;
};

const branchOf = ({ destination: { repository }, branch }: Located): string => `${repository.key}\n${branch}`;

const claimOf = (one: Located, metadata: Pick<GitRepoConfig["metadata"], "creationTimestamp" | "uid">): Claim => ({
  destination: one.destination.name,
  creationTimestamp: metadata.creationTimestamp,
  uid: metadata.uid,
  branch: branchOf(one),
  folder: one.destination.folder,
});

/** GitDestinations have names with a namespace; implicit ones say what they are. */
const shownName = (destination: string): string => (destination.includes(" ") ? destination : `GitDestination ${destination}`);

const blockedBy = (owner: string, { destination: { folder, repository }, branch }: Located): Failed =>
  refused(
    "OwnershipConflict",
    `${shownName(owner)}, which is older, has the same ${folder === "" ? "root" : `folder ${folder}`} of branch ${branch} of ${repository.url}: use another baseFolder or branch, or delete one of the two`,
  );

/** One of the rules that write to a destination: what it selects, or undefined where its selector is wrong. */
interface Written {
  readonly rule: string;
  readonly to: Located;
  readonly selects: readonly SelectionRule[] | undefined;
}

interface Judgement {
  readonly writing: E.Either<Failed, Writing>;
  readonly written: Written | undefined;
}

/**
 * What follows from the configuration.
 *
 * Guarantees: of the same objects, in whatever order, always the same; an object that is wrong changes nothing of those that do not
 *             refer to it; nobody writes with credentials that another's GitRepoConfig names. Never throws.
 */
export const resolved = (
  { objects, namespaceLabels, served, gone }: ClusterState,
  { selection, limits }: JournalSettings,
): Resolution => {
  const decoded = decodedObjects(objects);
  const known: Known = {
    gitRepoConfigs: rightOnes(decoded.GitRepoConfig),
    gitDestinations: rightOnes(decoded.GitDestination),
    namespaceLabels: (namespace) => namespaceLabels.get(namespace) ?? {},
  };

  const destinationAt = (one: GitDestination): E.Either<Failed, Located> => {
    const config = referred(one.spec.repoRef, one.metadata.namespace);
    return E.flatMap(brokenOne("GitRepoConfig", config, decoded.GitRepoConfig), () =>
      E.flatMap(E.mapLeft(unresolved)(resolveDestination(one, known)), located),
    );
  };
  const destinations = new Map(
    [...decoded.GitDestination].map(([key, one]) => [key, E.flatMap(one, destinationAt)] as const),
  );

  const locationOf = (namespace: string | undefined, spec: WatchRule["spec"] | ClusterWatchRule["spec"]) => {
    const { destinationRef, gitRepoConfigRef } = spec;
    const broken =
      destinationRef === undefined
        ? brokenOne("GitRepoConfig", referred(gitRepoConfigRef ?? { name: "" }, namespace), decoded.GitRepoConfig)
        : brokenOne("GitDestination", referred(destinationRef, namespace), destinations);
    return E.flatMap(broken, () =>
      E.flatMap(E.mapLeft(unresolved)(resolveRule({ namespace, destinationRef, gitRepoConfigRef }, known)), located),
    );
  };

  const judged = (
    rule: string,
    namespace: string | undefined,
    spec: WatchRule["spec"] | ClusterWatchRule["spec"],
    selects: E.Either<string, readonly SelectionRule[]>,
  ): Judgement => {
    const to = locationOf(namespace, spec);
    if (E.isLeft(to)) return { writing: to, written: undefined };
    if (E.isLeft(selects))
      return {
        writing: E.left(refused("InvalidSpec", `spec.${selects.left}`)),
        written: { rule, to: to.right, selects: undefined },
      };
    const { destination } = to.right;
    return {
      writing: E.right({
        destination: destination.name,
        through: spec.destinationRef === undefined ? undefined : destination.name,
        config: keyOf(destination.config),
        findings: [...new Set(selects.right.flatMap((one) => selectionFindings(one, served, selection)))],
      }),
      written: { rule, to: to.right, selects: selects.right },
    };
  };

  const judgements = {
    WatchRule: [...decoded.WatchRule].map(([key, one]): readonly [string, Judgement] => {
      if (E.isLeft(one)) return [key, { writing: one, written: undefined }];
      const { metadata, spec } = one.right;
      const { namespace = "" } = metadata;
      return [key, judged(objectId("WatchRule", key), namespace, spec, rulesOfWatchRule(spec, namespace))];
    }),
    ClusterWatchRule: [...decoded.ClusterWatchRule].map(([key, one]): readonly [string, Judgement] => {
      if (E.isLeft(one)) return [key, { writing: one, written: undefined }];
      const { spec } = one.right;
      return [key, judged(objectId("ClusterWatchRule", key), undefined, spec, rulesOfClusterWatchRule(spec))];
    }),
  };
  const written = [...judgements.WatchRule, ...judgements.ClusterWatchRule].flatMap(([, one]) => one.written ?? []);

  const places = new Map<string, { readonly at: Located; readonly claim: Claim }>();
  for (const [key, at] of destinations) {
    const metadata = known.gitDestinations.get(key)?.metadata;
    if (E.isRight(at) && metadata !== undefined) places.set(key, { at: at.right, claim: claimOf(at.right, metadata) });
  }
  for (const { to } of written)
    if (!places.has(to.destination.name))
      places.set(to.destination.name, { at: to, claim: claimOf(to, to.destination.config.metadata) });

  const owners = conflictingClaims([...places.values()].map(({ claim }) => claim));
  const rulesTo = Map.groupBy(written, ({ to }) => to.destination.name);

  const journaledOf = (name: string, at: Located): JournaledDestination => {
    const writers = rulesTo.get(name) ?? [];
    const rules = writers.flatMap(({ selects }) => selects ?? []);
    return {
      destination: at.destination,
      rules,
      selected: selectedResources(rules, served, selection),
      isBlocked: owners.has(name),
      deletes: rules.length > 0 && writers.every(({ selects }) => selects !== undefined),
      otherFolders: [...places.values()]
        .filter((other) => other.at !== at && branchOf(other.at) === branchOf(at))
        .map((other) => other.at.destination.folder),
    };
  };

  const branches = new Map<string, JournaledBranch>();
  const keys = new Map<string, string>();
  const inUse = [...places].filter(([name]) => rulesTo.has(name));
  for (const group of Map.groupBy(inUse, ([, { at }]) => branchOf(at)).values()) {
    const oldestFirst = group.toSorted(
      ([a, one], [b, other]) => byAge(one.at.destination, other.at.destination) || (a < b ? -1 : 1),
    );
    const credentials = [...new Set(oldestFirst.map(([, { at }]) => credentialsOf(at.destination)))];
    for (const [rank, own] of credentials.entries()) {
      const members = oldestFirst.filter(([, { at }]) => credentialsOf(at.destination) === own);
      const [first] = members;
      if (first === undefined) continue;
      const { destination, branch } = first[1].at;
      const key = branchKey(destination.repository, branch, ...(rank === 0 ? [] : [own]));
      for (const [name] of members) keys.set(name, key);
      branches.set(key, {
        key,
        repository: destination.repository,
        branch,
        secret: secretOf(destination.config),
        limits: limitsFor(limits, destination.config.spec),
        destinations: members.map(([name, { at }]) => journaledOf(name, at)),
      });
    }
  }

  const withoutRules = (name: string, kind: "GitDestination" | "GitRepoConfig"): string | undefined => {
    const writers = rulesTo.get(name) ?? [];
    if (writers.some(({ selects }) => selects !== undefined)) return undefined;
    const [broken] = writers;
    return broken === undefined
      ? `no rule writes to ${kind} ${name}: create a WatchRule or ClusterWatchRule with a destinationRef to it`
      : `${broken.rule} is not Ready, and no other rule writes to ${kind} ${name}`;
  };

  const placed = (name: string, at: Located): Placed => {
    const owner = owners.get(name);
    return {
      ...at,
      config: keyOf(at.destination.config),
      branchKey: keys.get(name),
      blocked: owner === undefined ? undefined : blockedBy(owner, at),
      withoutRules: withoutRules(name, "GitDestination"),
    };
  };

  const writingOf = (all: readonly (readonly [string, Judgement])[]): Judged<Writing> =>
    new Map(all.map(([key, { writing }]) => [key, writing]));

  return {
    wanted: { branches, gone, settings: selection, namespaceLabels },
    repositories: new Map([...decoded.GitRepoConfig].map(([key, one]) => [key, E.flatMap(one, repositoryOf)])),
    destinations: new Map(
      [...destinations].map(([key, at]) => [key, E.map((one: Located) => placed(key, one))(at)] as const),
    ),
    implicit: new Map(
      [...places].filter(([name]) => !destinations.has(name)).map(([name, { at }]) => [name, placed(name, at)]),
    ),
    rules: { WatchRule: writingOf(judgements.WatchRule), ClusterWatchRule: writingOf(judgements.ClusterWatchRule) },
  };
};
