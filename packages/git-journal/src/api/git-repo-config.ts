// The codec of a GitRepoConfig: a repository, its branches, its credentials, and who may write there.
import {
  boolean,
  described,
  excerpt,
  integer,
  list,
  oneOf,
  optional,
  type Rule,
  satisfying,
  string,
  type TypeOf,
  withDefault,
} from "@janus/api/codec";
import { branch, branchOrNone } from "./branch.ts";
import { objectsWith } from "./metadata.ts";
import { LabelSelector, LocalReference } from "./references.ts";
import { GitRepoConfigStatus } from "./status.ts";

/** The most commits that go into one push, where nothing else is said. */
export const MAX_COMMITS = 20;

const namespacedRulesFields = {
  mode: withDefault(
    "SameNamespace",
    described(
      "Which namespaces may have WatchRules for this repository. SameNamespace: its own. AllNamespaces: all. FromSelector: those that namespaceSelector selects.",
      oneOf("SameNamespace", "AllNamespaces", "FromSelector"),
    ),
  ),
  namespaceSelector: optional(described("Selects namespaces by their labels, for mode FromSelector.", LabelSelector)),
};
const NamespacedRules = excerpt(namespacedRulesFields);

const selectorWithItsMode: Rule<TypeOf<typeof NamespacedRules>> = {
  cel: "(self.mode == 'FromSelector') == has(self.namespaceSelector)",
  message: "namespaceSelector is required with mode FromSelector, and only then",
  holds: ({ mode, namespaceSelector }) => (mode === "FromSelector") === (namespaceSelector !== undefined),
};

const AccessPolicy = excerpt({
  namespacedRules: optional(
    described("Which WatchRules may write here.", satisfying(NamespacedRules, selectorWithItsMode)),
  ),
  allowClusterRules: withDefault(
    false,
    described("Whether ClusterWatchRules may write here. Default: false.", boolean),
  ),
});
export type AccessPolicy = TypeOf<typeof AccessPolicy>;

const Spec = excerpt({
  repoUrl: described(
    "URL of the repository: https, http, ssh, or user@host:path.",
    string({ minLength: 1, maxLength: 2048 }),
  ),
  allowedBranches: optional(
    described("Branches that GitDestinations may write.", list(branch, { atomic: true }, { maxItems: 1000 })),
  ),
  branch: optional(
    described(
      "A further one of them, and the branch of rules that name this repository directly. Default for these: the first of allowedBranches.",
      branchOrNone,
    ),
  ),
  secretRef: optional(
    described(
      "Secret with the credentials: username and password, bearerToken, or ssh-privatekey (identity) and known_hosts; ca.crt for a private certificate authority.",
      LocalReference,
    ),
  ),
  push: optional(
    described(
      "When changes are pushed, and how many at once.",
      excerpt({
        interval: optional(
          described(
            "How long changes are collected before they are pushed, as a duration of Go such as 1m. Default: the controller's flag --git-batch-max-wait-sec.",
            string(),
          ),
        ),
        maxCommits: withDefault(
          MAX_COMMITS,
          described(`The most commits of one push. Default: ${MAX_COMMITS}.`, integer),
        ),
      }),
    ),
  ),
  accessPolicy: optional(
    described("Which rules may write here. Default: WatchRules of the same namespace.", AccessPolicy),
  ),
});
export type GitRepoConfigSpec = TypeOf<typeof Spec>;

const isGiven = (text: string | undefined): boolean => text !== undefined && text !== "";

const someBranch: Rule<GitRepoConfigSpec> = {
  cel: "(has(self.branch) && self.branch != '') || (has(self.allowedBranches) && self.allowedBranches.size() > 0)",
  message: "set allowedBranches (or branch)",
  holds: ({ branch, allowedBranches = [] }) => isGiven(branch) || allowedBranches.length > 0,
};

export const GitRepoConfig = objectsWith(satisfying(Spec, someBranch), GitRepoConfigStatus);
export type GitRepoConfig = TypeOf<typeof GitRepoConfig>;

/** Returns all branches that may be written. */
export const branchesOf = ({ branch, allowedBranches = [] }: GitRepoConfigSpec): readonly string[] => [
  ...new Set([...(branch === undefined || branch === "" ? [] : [branch]), ...allowedBranches]),
];

/** The branch of rules that name the repository directly. */
export const defaultBranch = (spec: GitRepoConfigSpec): string => branchesOf(spec)[0] ?? "";
