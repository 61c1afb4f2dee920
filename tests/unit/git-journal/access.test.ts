// Tests who may write to a repository, by its accessPolicy.
import { expect, it } from "vitest";
import { accessDenied } from "../../../packages/git-journal/src/core/access.ts";

const metadata = { name: "repo", namespace: "shop", uid: "u", resourceVersion: "1", creationTimestamp: "" };
const repo = (accessPolicy?: Parameters<typeof accessDenied>[1]["spec"]["accessPolicy"]) => ({
  metadata,
  spec: { repoUrl: "https://g/r", branch: "main", ...(accessPolicy === undefined ? {} : { accessPolicy }) },
});
const from = (namespace: string, labels = {}) => ({ type: "namespaced", namespace, labels }) as const;
const cluster = (isThroughDestination: boolean) => ({ type: "cluster", isThroughDestination }) as const;
const selector = repo({
  allowClusterRules: false,
  namespacedRules: { mode: "FromSelector", namespaceSelector: { matchLabels: { team: "a" } } },
});

it.each([
  ["its own namespace", from("shop"), repo(), true],
  ["another namespace", from("other"), repo(), false],
  [
    "another namespace, with AllNamespaces",
    from("other"),
    repo({ allowClusterRules: false, namespacedRules: { mode: "AllNamespaces" } }),
    true,
  ],
  ["a namespace with the labels", from("other", { team: "a" }), selector, true],
  ["a namespace without the labels", from("other", { team: "b" }), selector, false],
  ["a ClusterWatchRule that names it directly", cluster(false), repo(), false],
  ["a ClusterWatchRule through a destination", cluster(true), repo(), true],
  ["a ClusterWatchRule through a destination, with a policy that does not allow it", cluster(true), selector, false],
  ["a ClusterWatchRule, allowed", cluster(false), repo({ allowClusterRules: true }), true],
])("%s", (_, writer, config, isAllowed) => {
  expect(accessDenied(writer, config) === undefined).toBe(isAllowed);
});

it("says what to do", () => {
  expect(accessDenied(from("other"), repo())).toBe(
    "GitRepoConfig shop/repo does not let namespace other write: set its accessPolicy.namespacedRules.mode to AllNamespaces or FromSelector",
  );
  expect(accessDenied(cluster(false), repo())).toBe(
    "GitRepoConfig shop/repo lets no ClusterWatchRule write: set its accessPolicy.allowClusterRules to true",
  );
});
