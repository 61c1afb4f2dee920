// Locates what objects refer to: the repository of a GitRepoConfig, and the branch and folder of a destination.
import * as E from "fp-ts/lib/Either.js";
import { branchesOf, type GitRepoConfig } from "../api/git-repo-config.ts";
import type { NamespacedName } from "../api/references.ts";
import { pushInterval } from "./batch.ts";
import { type Failed, refused } from "./configured.ts";
import type { Destination, Unresolved } from "./destinations.ts";
import { type BranchName, branchName } from "./git/branch-name.ts";
import { repositoryUrl, type RepositoryUrl } from "./repository-url.ts";

/** A repository whose server is asked whether it can be used. */
export interface Repository {
  readonly url: RepositoryUrl;
  readonly branches: readonly [BranchName, ...BranchName[]];
  /** The `namespace/name` of the Secret. */
  readonly secret: string | undefined;
  /** The messages for fields of its GitRepoConfig that count for nothing. */
  readonly findings: readonly string[];
}

/** A destination whose branch has a name that git takes. */
export interface Located {
  readonly destination: Destination;
  readonly branch: BranchName;
}

/** Returns the `namespace/name` of a GitRepoConfig. */
export const configKey = ({ metadata: { namespace, name } }: Pick<GitRepoConfig, "metadata">): string =>
  `${namespace}/${name}`;

/** Returns the `namespace/name` of the Secret with the credentials of a repository. */
export const secretOf = ({ metadata, spec }: GitRepoConfig): string | undefined =>
  spec.secretRef === undefined ? undefined : `${metadata.namespace}/${spec.secretRef.name}`;

/** Returns the key of the object that one of this namespace refers to. */
export const referred = ({ name, namespace }: NamespacedName, from: string | undefined): string =>
  `${namespace ?? from}/${name}`;

const checkedBranch = (config: string, branch: string): E.Either<Failed, BranchName> =>
  E.mapLeft((why: string) => refused("InvalidSpec", `GitRepoConfig ${config}: ${why}`))(branchName(branch));

const findingsOf = ({ spec }: GitRepoConfig): readonly string[] => {
  const { interval = "" } = spec.push ?? {};
  return interval !== "" && pushInterval(spec) === undefined
    ? ["push.interval is no duration such as 1m: the controller's flag --git-batch-max-wait-sec counts"]
    : [];
};

const withBranches = (config: GitRepoConfig, url: RepositoryUrl): E.Either<Failed, Repository> => {
  const names = branchesOf(config.spec).map((one) => checkedBranch(configKey(config), one));
  const [first, ...others] = names.flatMap((one) => (E.isRight(one) ? [one.right] : []));
  return first === undefined
    ? E.left(names.find(E.isLeft)?.left ?? refused("BranchNotAllowed", "set allowedBranches (or branch)"))
    : E.right({ url, branches: [first, ...others], secret: secretOf(config), findings: findingsOf(config) });
};

export const repositoryOf = (config: GitRepoConfig): E.Either<Failed, Repository> =>
  E.flatMap(
    E.mapLeft((why: string) => refused("InvalidURL", `GitRepoConfig ${configKey(config)}: ${why}`))(
      repositoryUrl(config.spec.repoUrl),
    ),
    (url) => withBranches(config, url),
  );

export const located = (destination: Destination): E.Either<Failed, Located> =>
  E.map((branch: BranchName) => ({ destination, branch }))(
    checkedBranch(configKey(destination.config), destination.branch),
  );

/** The reasons that may pass when another object comes, or changes: then the reference is resolved again. */
const PASSING: ReadonlySet<Unresolved["reason"]> = new Set(["GitDestinationNotFound", "GitRepoConfigNotFound"]);

export const unresolved = ({ reason, message }: Unresolved): Failed => ({
  type: "failed",
  reason,
  message,
  lasts: !PASSING.has(reason),
});

type Referred = "GitDestination" | "GitRepoConfig";

/** The failure of an object that depends on this one, which is wrong itself. */
export const notReady = (kind: Referred, key: string, cause: Failed): Failed => ({
  type: "failed",
  reason: `${kind}NotReady`,
  message: `${kind} ${key} is not Ready (${cause.reason}): ${cause.message}`,
  lasts: cause.lasts,
});

/** Fails for a reference to an object that is wrong, which must not be called missing. */
export const unlessWrong = (
  kind: Referred,
  key: string,
  all: ReadonlyMap<string, E.Either<Failed, unknown>>,
): E.Either<Failed, undefined> => {
  const one = all.get(key);
  return one !== undefined && E.isLeft(one) ? E.left(notReady(kind, key, one.left)) : E.right(undefined);
};
