// Resolves references: of a rule to its destination, and of a destination to its repository, where both are allowed.
import * as E from "fp-ts/lib/Either.js";
import type { GitDestination } from "../api/git-destination.ts";
import { branchesOf, defaultBranch, type GitRepoConfig } from "../api/git-repo-config.ts";
import type { NamespacedName } from "../api/references.ts";
import { accessDenied, type Writer } from "./access.ts";
import type { Labels } from "./label-selector.ts";
import { type BaseFolder, baseFolder, ROOT } from "./path.ts";
import { repositoryUrl, type RepositoryUrl } from "./repository-url.ts";

/** The reason for which an object is not Ready. */
export interface Unresolved {
  readonly reason:
    | "AccessDenied"
    | "BranchNotAllowed"
    | "GitDestinationNotFound"
    | "GitRepoConfigNotFound"
    | "InvalidBaseFolder"
    | "InvalidURL";
  readonly message: string;
}

/** The place to which objects are written. */
export interface Destination {
  /** A GitDestination such as `shop/prod`, or `GitRepoConfig shop/repo` for rules that name the repository directly. */
  readonly name: string;
  readonly repository: RepositoryUrl;
  readonly branch: string;
  readonly folder: BaseFolder;
  readonly exclusiveMode: boolean;
  readonly ageRecipients: readonly string[];
  readonly config: GitRepoConfig;
}

/** The objects of the cluster, by `namespace/name`, and the labels of its namespaces. */
export interface Known {
  readonly gitRepoConfigs: ReadonlyMap<string, GitRepoConfig>;
  readonly gitDestinations: ReadonlyMap<string, GitDestination>;
  readonly namespaceLabels: (namespace: string) => Labels;
  /** The namespaces whose objects are known; undefined: all. */
  readonly watched: readonly string[] | undefined;
}

type Resolved = E.Either<Unresolved, Destination>;

const refused = (reason: Unresolved["reason"], message: string): E.Either<Unresolved, never> =>
  E.left({ reason, message });

const keyOf = ({ name, namespace }: NamespacedName, from: string): string => `${namespace ?? from}/${name}`;

const writable = (config: GitRepoConfig, writers: readonly Writer[]): E.Either<Unresolved, RepositoryUrl> => {
  const denied = writers.map((writer) => accessDenied(writer, config)).find((why) => why !== undefined);
  if (denied !== undefined) return refused("AccessDenied", denied);
  const { namespace, name } = config.metadata;
  return E.mapLeft(
    (why: string): Unresolved => ({ reason: "InvalidURL", message: `GitRepoConfig ${namespace}/${name}: ${why}` }),
  )(repositoryUrl(config.spec.repoUrl));
};

/** The failure for an object that is not known: it is missing, or in a namespace that is not watched. */
const notFound = (
  kind: "GitDestination" | "GitRepoConfig",
  key: string,
  { watched }: Known,
): E.Either<Unresolved, never> =>
  refused(
    `${kind}NotFound`,
    watched === undefined || watched.includes(key.slice(0, key.indexOf("/")))
      ? `there is no ${kind} ${key}: create it`
      : `${kind} ${key} is in a namespace that the controller does not watch: add that to its flag --watch-namespace`,
  );

const repositoryAt = (key: string, known: Known): E.Either<Unresolved, GitRepoConfig> => {
  const config = known.gitRepoConfigs.get(key);
  return config === undefined ? notFound("GitRepoConfig", key, known) : E.right(config);
};

const fromNamespace = (namespace: string, { namespaceLabels }: Known): Writer => ({
  type: "namespaced",
  namespace,
  labels: namespaceLabels(namespace),
});

/** Resolves where a GitDestination writes, which it and these writers have to be allowed. */
export const resolveDestination = (
  { metadata, spec }: Pick<GitDestination, "metadata" | "spec">,
  known: Known,
  writers: readonly Writer[] = [],
): Resolved => {
  const { namespace = "", name } = metadata;
  return E.flatMap(
    repositoryAt(keyOf(spec.repoRef, namespace), known),
    (config): Resolved =>
      E.flatMap(writable(config, [fromNamespace(namespace, known), ...writers]), (repository): Resolved => {
        const folder = baseFolder(spec.baseFolder);
        if (E.isLeft(folder)) return refused("InvalidBaseFolder", folder.left);
        if (!branchesOf(config.spec).includes(spec.branch))
          return refused(
            "BranchNotAllowed",
            `GitRepoConfig ${config.metadata.namespace}/${config.metadata.name} does not allow the branch ${spec.branch}: add it to its allowedBranches`,
          );
        return E.right({
          name: `${namespace}/${name}`,
          repository,
          branch: spec.branch,
          folder: folder.right,
          exclusiveMode: spec.exclusiveMode,
          ageRecipients: spec.secrets?.ageRecipients ?? [],
          config,
        });
      }),
  );
};

/** A WatchRule or ClusterWatchRule, as far as it says where it writes. */
export interface Referring {
  /** The namespace of the rule; undefined: it is a ClusterWatchRule. */
  readonly namespace: string | undefined;
  readonly destinationRef?: NamespacedName | undefined;
  readonly gitRepoConfigRef?: NamespacedName | undefined;
}

const writerOf = ({ namespace }: Referring, isThroughDestination: boolean, known: Known): Writer =>
  namespace === undefined ? { type: "cluster", isThroughDestination } : fromNamespace(namespace, known);

/** Resolves where a rule writes; of both references, destinationRef counts. */
export const resolveRule = (rule: Referring, known: Known): Resolved => {
  const { namespace = "", destinationRef, gitRepoConfigRef } = rule;
  if (destinationRef !== undefined) {
    const key = keyOf(destinationRef, namespace);
    const destination = known.gitDestinations.get(key);
    return destination === undefined
      ? notFound("GitDestination", key, known)
      : resolveDestination(destination, known, [writerOf(rule, true, known)]);
  }
  const key = gitRepoConfigRef === undefined ? "" : keyOf(gitRepoConfigRef, namespace);
  return E.flatMap(
    repositoryAt(key, known),
    (config): Resolved =>
      E.map(
        (repository: RepositoryUrl): Destination => ({
          name: `GitRepoConfig ${key}`,
          repository,
          branch: defaultBranch(config.spec),
          folder: ROOT,
          exclusiveMode: false,
          ageRecipients: [],
          config,
        }),
      )(writable(config, [writerOf(rule, false, known)])),
  );
};
