// Specs of the kinds of the Git journal: those that upstream has had, and those that are refused, each with the message.
import { BRANCH_FORM } from "../../packages/git-journal/src/api/branch.ts";

export const FOLDER = 'baseFolder must not have the segments ".", ".." or ".git"';
const destination = { repoRef: { name: "r" }, branch: "main", baseFolder: "clusters/prod" };
const rules = [{ resources: ["configmaps"] }];
const clusterRules = [{ resources: ["namespaces"], scope: "Cluster" }];

export const ACCEPTED = [
  [
    "a GitRepoConfig of the plan's date",
    "GitRepoConfig",
    { repoUrl: "https://g/r", branch: "main", secretRef: { name: "s" }, push: { interval: "1m", maxCommits: 20 } },
  ],
  ["a GitRepoConfig of the same evening", "GitRepoConfig", { repoUrl: "git@g:r", allowedBranches: ["main"] }],
  ["a GitDestination", "GitDestination", destination],
  ["a branch with a folder", "GitDestination", { ...destination, branch: "release/1.36-a@b_ü" }],
  ["no branch, said twice", "GitRepoConfig", { repoUrl: "git@g:r", branch: "", allowedBranches: ["main"] }],
  ["a WatchRule of the plan's date", "WatchRule", { gitRepoConfigRef: { name: "r" }, objectSelector: {}, rules }],
  [
    "a WatchRule of the same evening",
    "WatchRule",
    {
      destinationRef: { name: "d" },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["*"] }],
    },
  ],
  ["a ClusterWatchRule", "ClusterWatchRule", { destinationRef: { name: "d", namespace: "shop" }, rules: clusterRules }],
] as const;

const selector = "namespaceSelector is required with mode FromSelector, and only then";
const repo = { repoUrl: "https://g/r", branch: "main" };
const withRules = (namespacedRules: object) => ({ ...repo, accessPolicy: { namespacedRules } });

export const REFUSED = [
  ["no branch", "GitRepoConfig", { repoUrl: "https://g/r" }, "set allowedBranches (or branch)"],
  [
    "empty branches",
    "GitRepoConfig",
    { repoUrl: "https://g/r", branch: "", allowedBranches: [] },
    "set allowedBranches (or branch)",
  ],
  ["FromSelector without selector", "GitRepoConfig", withRules({ mode: "FromSelector" }), selector],
  ["a selector without FromSelector", "GitRepoConfig", withRules({ namespaceSelector: {} }), selector],
  ["a branch that git does not take", "GitRepoConfig", { ...repo, branch: "bad..name" }, BRANCH_FORM],
  ["one among others", "GitRepoConfig", { ...repo, allowedBranches: ["main", "a b"] }, BRANCH_FORM],
  ["such a branch of a GitDestination", "GitDestination", { ...destination, branch: "a.lock/b\\" }, BRANCH_FORM],
  ["a folder that leads out", "GitDestination", { ...destination, baseFolder: "a/../b" }, FOLDER],
  ["a folder of git", "GitDestination", { ...destination, baseFolder: "a/.GIT/hooks" }, FOLDER],
  ["a folder that Windows takes for one of git", "GitDestination", { ...destination, baseFolder: ".git." }, FOLDER],
  ["a folder that is here", "GitDestination", { ...destination, baseFolder: "." }, FOLDER],
  [
    "a rule that leads nowhere",
    "WatchRule",
    { rules },
    "set destinationRef to a GitDestination, or gitRepoConfigRef to a GitRepoConfig",
  ],
  [
    "a rule without resources",
    "WatchRule",
    { destinationRef: { name: "d" }, rules: [{ resources: [] }] },
    "must have at least 1 items",
  ],
  [
    "a destinationRef of the cluster without namespace",
    "ClusterWatchRule",
    { destinationRef: { name: "d" }, rules: clusterRules },
    "destinationRef.namespace is required: a ClusterWatchRule has no namespace of its own",
  ],
  [
    "a gitRepoConfigRef of the cluster without namespace",
    "ClusterWatchRule",
    { gitRepoConfigRef: { name: "d", namespace: "" }, rules: clusterRules },
    "gitRepoConfigRef.namespace is required: a ClusterWatchRule has no namespace of its own",
  ],
  ["no scope", "ClusterWatchRule", { destinationRef: { name: "d", namespace: "n" }, rules }, "is missing"],
] as const;
