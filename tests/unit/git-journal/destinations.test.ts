// Tests where rules and destinations write, and what they are told if they may not, or name what is not there.
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { GitDestination } from "../../../packages/git-journal/src/api/git-destination.ts";
import { GitRepoConfig } from "../../../packages/git-journal/src/api/git-repo-config.ts";
import {
  type Known,
  type Referring,
  resolveDestination,
  resolveRule,
} from "../../../packages/git-journal/src/core/destinations.ts";

const metadata = (namespace: string, name: string) => ({
  name,
  namespace,
  uid: name,
  resourceVersion: "1",
  creationTimestamp: "",
});
const decoded = <A>(result: E.Either<unknown, A>): A => {
  if (E.isLeft(result)) throw new Error("it is not decoded");
  return result.right;
};
const config = (spec: object = {}): GitRepoConfig =>
  decoded(
    GitRepoConfig.decode({
      metadata: metadata("shop", "repo"),
      spec: { repoUrl: "https://g/r", allowedBranches: ["main", "dev"], ...spec },
    }),
  );
const destination = (namespace = "shop", spec: object = {}): GitDestination =>
  decoded(
    GitDestination.decode({
      metadata: metadata(namespace, "prod"),
      spec: { repoRef: { name: "repo", namespace: "shop" }, branch: "dev", baseFolder: "clusters/prod", ...spec },
    }),
  );

const known = (repo = config(), ...destinations: readonly GitDestination[]): Known => ({
  gitRepoConfigs: new Map([["shop/repo", repo]]),
  gitDestinations: new Map(destinations.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one])),
  namespaceLabels: (namespace) => ({ name: namespace }),
  watched: undefined,
});
const ALL = { accessPolicy: { namespacedRules: { mode: "AllNamespaces" } } };

const place = (result: ReturnType<typeof resolveRule>): string =>
  E.isRight(result)
    ? `${result.right.name}: ${result.right.repository.key} ${result.right.branch} ${result.right.folder}`
    : `${result.left.reason}: ${result.left.message}`;

describe("a GitDestination", () => {
  it.each<readonly [string, GitDestination, Known, string]>([
    ["writes to a folder of a branch", destination(), known(), "shop/prod: https://g/r dev clusters/prod"],
    [
      "finds the repository in its own namespace",
      destination("shop", { repoRef: { name: "repo" } }),
      known(),
      "shop/prod: https://g/r dev clusters/prod",
    ],
    [
      "of a repository that is not there",
      destination("shop", { repoRef: { name: "none" } }),
      known(),
      "GitRepoConfigNotFound: there is no GitRepoConfig shop/none: create it",
    ],
    [
      "of a repository in a namespace that is not watched",
      destination("shop", { repoRef: { name: "repo", namespace: "infra" } }),
      { ...known(), watched: ["shop"] },
      "GitRepoConfigNotFound: GitRepoConfig infra/repo is in a namespace that the controller does not watch: add that to its flag --watch-namespace",
    ],
    [
      "of a namespace that may not write there",
      destination("other"),
      known(),
      "AccessDenied: GitRepoConfig shop/repo does not let namespace other write: set its accessPolicy.namespacedRules.mode to AllNamespaces or FromSelector",
    ],
    [
      "of a branch that is not allowed",
      destination("shop", { branch: "x" }),
      known(),
      "BranchNotAllowed: GitRepoConfig shop/repo does not allow the branch x: add it to its allowedBranches",
    ],
    [
      "of a URL that git must not see",
      destination(),
      known(config({ repoUrl: "ext::sh" })),
      "InvalidURL: GitRepoConfig shop/repo: repoUrl must be an https, http or ssh URL with a path, or user@host:path",
    ],
  ])("%s", (_, one, all, expected) => {
    expect(place(resolveDestination(one, all))).toBe(expected);
  });

  it("that was stored before the rule on folders was there is refused", () => {
    const stored = { ...destination(), spec: { ...destination().spec, baseFolder: "a/../.git" } };
    expect(place(resolveDestination(stored, known()))).toBe(
      'InvalidBaseFolder: baseFolder must not have the segments ".", ".." or ".git"',
    );
  });
});

it("what a destination says of its folder is its own", () => {
  const one = destination("shop", { exclusiveMode: true, secrets: { ageRecipients: ["age1"] } });
  expect(resolveDestination(one, known())).toMatchObject({ right: { exclusiveMode: true, ageRecipients: ["age1"] } });
  const direct = { namespace: "shop", gitRepoConfigRef: { name: "repo" } };
  expect(resolveRule(direct, known())).toMatchObject({ right: { exclusiveMode: false, ageRecipients: [] } });
});

describe("a rule", () => {
  const inShop = { namespace: "shop", destinationRef: { name: "prod" } };
  const ofCluster = { namespace: undefined, destinationRef: { name: "prod", namespace: "shop" } };
  const direct = { gitRepoConfigRef: { name: "repo", namespace: "shop" } };
  it.each<readonly [string, Referring, Known, string]>([
    ["through a destination", inShop, known(config(), destination()), "shop/prod: https://g/r dev clusters/prod"],
    [
      "without a destination: to the branch of the repository, at its root",
      { namespace: "shop", ...direct },
      known(),
      "GitRepoConfig shop/repo: https://g/r main ",
    ],
    [
      "of both references the destination counts",
      { ...inShop, ...direct },
      known(config(), destination()),
      "shop/prod: https://g/r dev clusters/prod",
    ],
    [
      "to a destination that is not there",
      inShop,
      known(),
      "GitDestinationNotFound: there is no GitDestination shop/prod: create it",
    ],
    [
      "to a destination that is not there, in one of the namespaces that are watched",
      inShop,
      { ...known(), watched: ["bank", "shop"] },
      "GitDestinationNotFound: there is no GitDestination shop/prod: create it",
    ],
    [
      "of another namespace, through a destination that may",
      { ...ofCluster, namespace: "other" },
      known(config(), destination()),
      "AccessDenied: GitRepoConfig shop/repo does not let namespace other write: set its accessPolicy.namespacedRules.mode to AllNamespaces or FromSelector",
    ],
    [
      "of another namespace, allowed",
      { ...ofCluster, namespace: "other" },
      known(config(ALL), destination()),
      "shop/prod: https://g/r dev clusters/prod",
    ],
    [
      "that may, through a destination that may not",
      { namespace: "shop", destinationRef: { name: "prod", namespace: "other" } },
      known(config(), destination("other")),
      "AccessDenied: GitRepoConfig shop/repo does not let namespace other write: set its accessPolicy.namespacedRules.mode to AllNamespaces or FromSelector",
    ],
    [
      "of the cluster, through a destination",
      ofCluster,
      known(config(), destination()),
      "shop/prod: https://g/r dev clusters/prod",
    ],
    [
      "of the cluster, directly",
      { namespace: undefined, ...direct },
      known(),
      "AccessDenied: GitRepoConfig shop/repo lets no ClusterWatchRule write: set its accessPolicy.allowClusterRules to true",
    ],
    [
      "of the cluster, directly, allowed",
      { namespace: undefined, ...direct },
      known(config({ accessPolicy: { allowClusterRules: true } })),
      "GitRepoConfig shop/repo: https://g/r main ",
    ],
  ])("%s", (_, rule, all, expected) => {
    expect(place(resolveRule(rule, all))).toBe(expected);
  });
});
