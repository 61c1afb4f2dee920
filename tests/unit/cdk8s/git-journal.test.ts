// Tests the constructs of the Git journal: what they print, and what the synthesis refuses.
import { ClusterWatchRule, GitDestination, GitRepoConfig, WatchRule } from "@janus/cdk8s";
import { Chart, Testing } from "cdk8s";
import { describe, expect, it } from "vitest";

const chart = () => new Chart(Testing.app(), "shop", { namespace: "shop" });
const synthesis = (scope: Chart) => () => Testing.synth(scope);

const repository = (scope: Chart) =>
  new GitRepoConfig(scope, "Repository", {
    metadata: { name: "cluster" },
    repoUrl: "https://git.example.com/cluster.git",
    allowedBranches: ["main"],
    secretRef: { name: "git" },
    accessPolicy: { allowClusterRules: true },
  });

it("prints objects that refer to each other by their names", () => {
  const scope = chart();
  const destination = new GitDestination(scope, "Destination", {
    metadata: { name: "prod" },
    repoRef: repository(scope),
    branch: "main",
    baseFolder: "clusters/prod",
  });
  new WatchRule(scope, "Rule", {
    metadata: { name: "all" },
    destinationRef: destination,
    rules: [{ resources: ["*"] }],
  });
  new ClusterWatchRule(scope, "ClusterRule", {
    metadata: { name: "namespaces" },
    gitRepoConfigRef: { name: "cluster", namespace: "shop" },
    rules: [{ scope: "Cluster", apiGroups: [""], resources: ["namespaces"] }],
  });
  const apiVersion = "configbutler.ai/v1alpha1";
  expect(Testing.synth(scope)).toEqual([
    {
      apiVersion,
      kind: "GitRepoConfig",
      metadata: { name: "cluster", namespace: "shop" },
      spec: {
        repoUrl: "https://git.example.com/cluster.git",
        allowedBranches: ["main"],
        secretRef: { name: "git" },
        accessPolicy: { allowClusterRules: true },
      },
    },
    {
      apiVersion,
      kind: "GitDestination",
      metadata: { name: "prod", namespace: "shop" },
      spec: { repoRef: { name: "cluster", namespace: "shop" }, branch: "main", baseFolder: "clusters/prod" },
    },
    {
      apiVersion,
      kind: "WatchRule",
      metadata: { name: "all", namespace: "shop" },
      spec: { destinationRef: { name: "prod", namespace: "shop" }, rules: [{ resources: ["*"] }] },
    },
    {
      apiVersion,
      kind: "ClusterWatchRule",
      metadata: { name: "namespaces" },
      spec: {
        gitRepoConfigRef: { name: "cluster", namespace: "shop" },
        rules: [{ scope: "Cluster", apiGroups: [""], resources: ["namespaces"] }],
      },
    },
  ]);
});

describe("what would be refused is an error of the synthesis", () => {
  it.each<readonly [what: string, message: string, define: (scope: Chart) => unknown]>([
    [
      "a URL that is a command of git",
      "repoUrl",
      (scope) => new GitRepoConfig(scope, "R", { repoUrl: "ext::sh -c true", branch: "main" }),
    ],
    [
      "a repository without a branch",
      "set allowedBranches (or branch)",
      (scope) => new GitRepoConfig(scope, "R", { repoUrl: "https://git.example.com/a.git" }),
    ],
    [
      "a folder of git itself",
      'baseFolder must not have the segments ".", ".." or ".git"',
      (scope) => new GitDestination(scope, "D", { repoRef: { name: "a" }, branch: "main", baseFolder: "a/.git" }),
    ],
    [
      "a branch that git does not take",
      "must be a name of a branch (git check-ref-format)",
      (scope) => new GitDestination(scope, "D", { repoRef: { name: "a" }, branch: "a..b", baseFolder: "a" }),
    ],
    [
      "a recipient that is none",
      "spec.secrets.ageRecipients[0] is no public key of age",
      (scope) =>
        new GitDestination(scope, "D", {
          repoRef: { name: "a" },
          branch: "main",
          baseFolder: "a",
          secrets: { ageRecipients: ["me"] },
        }),
    ],
    [
      "a rule without a destination",
      "set destinationRef to a GitDestination, or gitRepoConfigRef to a GitRepoConfig",
      (scope) => new WatchRule(scope, "W", { rules: [{ resources: ["*"] }] }),
    ],
    [
      "a selector without values",
      "objectSelector",
      (scope) =>
        new WatchRule(scope, "W", {
          destinationRef: { name: "a" },
          objectSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
          rules: [{ resources: ["*"] }],
        }),
    ],
    [
      "a rule of the cluster without a namespace of its destination",
      "destinationRef.namespace is required: a ClusterWatchRule has no namespace of its own",
      (scope) =>
        new ClusterWatchRule(scope, "C", {
          destinationRef: { name: "a" },
          rules: [{ scope: "Cluster", resources: ["*"] }],
        }),
    ],
  ])("%s", (_, message, define) => {
    const scope = chart();
    define(scope);
    expect(synthesis(scope)).toThrow(message);
  });
});
