// Finds what is wrong with the spec of an object of the journal's kinds, without a cluster.
import { report } from "@janus/api";
import type { Codec } from "@janus/api/codec";
import * as E from "fp-ts/lib/Either.js";
import { GitDestination } from "../api/git-destination.ts";
import { GitRepoConfig } from "../api/git-repo-config.ts";
import { ClusterWatchRule, WatchRule } from "../api/watch-rule.ts";
import { recipientProblem } from "./age-keys.ts";
import { rulesOfClusterWatchRule, rulesOfWatchRule } from "./selection.ts";
import { repositoryUrl } from "./repository-url.ts";

/** The metadata of an object that is not in a cluster yet. */
const METADATA = { name: "new", uid: "", resourceVersion: "", creationTimestamp: "" };

const decoded = <A extends { readonly spec: unknown }>(kind: Codec<A>, spec: unknown): E.Either<string, A["spec"]> =>
  E.bimap(report, ({ spec }: A) => spec)(kind.decode({ metadata: METADATA, spec }));

const PROBLEMS = {
  GitRepoConfig: (spec: unknown) => E.flatMap(decoded(GitRepoConfig, spec), ({ repoUrl }) => repositoryUrl(repoUrl)),
  GitDestination: (spec: unknown) =>
    E.flatMap(decoded(GitDestination, spec), ({ secrets }) => {
      const problem = recipientProblem(secrets?.ageRecipients ?? []);
      return problem === undefined ? E.right(undefined) : E.left(problem);
    }),
  WatchRule: (spec: unknown) =>
    E.flatMap(decoded(WatchRule, spec), (rule) => rulesOfWatchRule(rule, "the namespace of the rule")),
  ClusterWatchRule: (spec: unknown) => E.flatMap(decoded(ClusterWatchRule, spec), rulesOfClusterWatchRule),
} satisfies Readonly<Record<string, (spec: unknown) => E.Either<string, unknown>>>;

/** Says what the API server or the controller would refuse of a spec. */
export const specProblems = (kind: keyof typeof PROBLEMS, spec: unknown): readonly string[] => {
  const problem: E.Either<string, unknown> = PROBLEMS[kind](spec);
  return E.isLeft(problem) ? [problem.left] : [];
};
