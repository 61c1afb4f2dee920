// The CustomResourceDefinitions of the four kinds of the Git journal.
import type { JsonObject, Resource } from "@janus/types";
import type { Schema } from "@janus/api/codec";
import { GitDestination } from "./git-destination.ts";
import { GitRepoConfig } from "./git-repo-config.ts";
import { CATEGORY, clusterWatchRules, gitDestinations, gitRepoConfigs, watchRules } from "./names.ts";
import { ClusterWatchRule, WatchRule } from "./watch-rule.ts";

const column = (name: string, jsonPath: string, type = "string"): JsonObject => ({ name, type, jsonPath });

/** A column that only `kubectl get -o wide` shows. */
const wide = (name: string, jsonPath: string): JsonObject => ({ ...column(name, jsonPath), priority: 1 });

const ofReady = (field: string): string => `.status.conditions[?(@.type=="Ready")].${field}`;

interface Columns {
  readonly before?: readonly JsonObject[];
  readonly after?: readonly JsonObject[];
}

const columns = ({ before = [], after = [] }: Columns): readonly JsonObject[] => [
  ...before,
  column("Ready", ofReady("status")),
  column("Reason", ofReady("reason")),
  ...after,
  column("Age", ".metadata.creationTimestamp", "date"),
  wide("Message", ofReady("message")),
];

const definition = (
  { group, version, kind, plural, namespaced }: Resource,
  { schema }: { readonly schema: Schema },
  shown: Columns,
): JsonObject => {
  const { spec, status } = schema["properties"] as JsonObject;
  const openAPIV3Schema: JsonObject = {
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...(spec === undefined ? {} : { spec }),
      ...(status === undefined ? {} : { status }),
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), categories: [CATEGORY] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns(shown),
          schema: { openAPIV3Schema },
        },
      ],
    },
  };
};

const RULE: Columns = { before: [column("Destination", ".spec.destinationRef.name")] };

/** CRDs that accept all objects of upstream that can be written to Git; fields that they do not have are pruned. */
export const gitJournalCrds: readonly JsonObject[] = [
  definition(gitRepoConfigs, GitRepoConfig, { before: [column("URL", ".status.url")] }),
  definition(gitDestinations, GitDestination, {
    before: [
      column("Repo", ".spec.repoRef.name"),
      column("Branch", ".spec.branch"),
      column("BaseFolder", ".spec.baseFolder"),
    ],
    after: [column("Pushed", ".status.lastPushTime", "date"), wide("Commit", ".status.lastCommit")],
  }),
  definition(watchRules, WatchRule, RULE),
  definition(clusterWatchRules, ClusterWatchRule, RULE),
];
