// The API of the Git journal, for manifests and tests.
export { gitJournalCrds } from "./api/crds.ts";
export { GitDestination } from "./api/git-destination.ts";
export { GitRepoConfig } from "./api/git-repo-config.ts";
export * from "./api/names.ts";
export { ClusterWatchRule, WatchRule } from "./api/watch-rule.ts";
