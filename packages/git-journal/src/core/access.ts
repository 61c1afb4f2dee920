// Decides who may write to a repository, by its accessPolicy.
import * as E from "fp-ts/lib/Either.js";
import type { GitRepoConfig } from "../api/git-repo-config.ts";
import { labelPredicate, type Labels } from "./label-selector.ts";

/** The writer that refers to the repository: an object in a namespace, or a ClusterWatchRule, perhaps through a destination. */
export type Writer =
  | { readonly type: "namespaced"; readonly namespace: string; readonly labels: Labels }
  | { readonly type: "cluster"; readonly isThroughDestination: boolean };

/** Returns why the writer may not write to the repository; undefined: it may. */
export const accessDenied = (
  writer: Writer,
  { metadata, spec }: Pick<GitRepoConfig, "metadata" | "spec">,
): string | undefined => {
  const repository = `GitRepoConfig ${metadata.namespace}/${metadata.name}`;
  const { accessPolicy } = spec;
  if (writer.type === "cluster") {
    const isAllowed = accessPolicy === undefined ? writer.isThroughDestination : accessPolicy.allowClusterRules;
    return isAllowed
      ? undefined
      : `${repository} lets no ClusterWatchRule write: set its accessPolicy.allowClusterRules to true`;
  }
  const { mode = "SameNamespace", namespaceSelector } = accessPolicy?.namespacedRules ?? {};
  const denied = `${repository} does not let namespace ${writer.namespace} write`;
  if (mode === "AllNamespaces") return undefined;
  if (mode === "SameNamespace")
    return writer.namespace === metadata.namespace
      ? undefined
      : `${denied}: set its accessPolicy.namespacedRules.mode to AllNamespaces or FromSelector`;
  const selects = labelPredicate(namespaceSelector);
  if (E.isLeft(selects)) return `${denied}: its namespaceSelector is wrong: ${selects.left}`;
  return selects.right(writer.labels) ? undefined : `${denied}: its namespaceSelector does not select it`;
};
