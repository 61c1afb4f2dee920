// Codecs of WatchRule and ClusterWatchRule: which objects are written to which destination.
import {
  type Codec,
  described,
  excerpt,
  list,
  oneOf,
  optional,
  type Rule,
  satisfying,
  string,
  type TypeOf,
} from "@janus/api/codec";
import { objectsWith } from "./metadata.ts";
import { LabelSelector, NamespacedName } from "./references.ts";
import { Status } from "./status.ts";

const texts = list(string(), { atomic: true });

export const OPERATIONS = ["CREATE", "UPDATE", "DELETE"] as const;
/** An operation on a file. */
export type Operation = (typeof OPERATIONS)[number];

const selected = {
  operations: optional(
    described(
      "What is done to files: CREATE, UPDATE, DELETE or *. Default: all.",
      list(oneOf(...OPERATIONS, "*"), { atomic: true }),
    ),
  ),
  apiGroups: optional(described('API groups, "" for the core group, or *. Default: all.', texts)),
  apiVersions: optional(described("API versions, such as v1, or *. Default: all.", texts)),
  resources: described(
    "Resources by their plural, such as deployments; * selects those that describe a desired state.",
    list(string(), { atomic: true }, { minItems: 1 }),
  ),
};
const ResourceRule = excerpt(selected);
export type ResourceRule = TypeOf<typeof ResourceRule>;

const ClusterResourceRule = excerpt({
  ...selected,
  scope: described("Cluster or Namespaced: which resources it is for.", oneOf("Cluster", "Namespaced")),
  namespaceSelector: optional(
    described("Selects namespaces by their labels, for scope Namespaced. Default: all.", LabelSelector),
  ),
});
export type ClusterResourceRule = TypeOf<typeof ClusterResourceRule>;

const rulesOf = <A>(rule: Codec<A>): Codec<readonly A[]> =>
  described("An object is selected if one of these selects it.", list(rule, { atomic: true }, { minItems: 1 }));

interface References {
  readonly destinationRef?: NamespacedName;
  readonly gitRepoConfigRef?: NamespacedName;
}

const referencesOf = (reference: (field: string) => Codec<NamespacedName>) => ({
  destinationRef: optional(described("The GitDestination to which objects are written.", reference("destinationRef"))),
  gitRepoConfigRef: optional(
    described(
      "A GitRepoConfig, without destinationRef: objects are written to its branch, without a folder.",
      reference("gitRepoConfigRef"),
    ),
  ),
});

const someDestination: Rule<References> = {
  cel: "has(self.destinationRef) || has(self.gitRepoConfigRef)",
  message: "set destinationRef to a GitDestination, or gitRepoConfigRef to a GitRepoConfig",
  holds: ({ destinationRef, gitRepoConfigRef }) => destinationRef !== undefined || gitRepoConfigRef !== undefined,
};

/** `__namespace__` is the CEL name of a field that is called like a keyword. */
const withNamespace = (field: string): Codec<NamespacedName> =>
  satisfying(NamespacedName, {
    cel: "has(self.__namespace__) && self.__namespace__ != ''",
    message: `${field}.namespace is required: a ClusterWatchRule has no namespace of its own`,
    holds: ({ namespace = "" }) => namespace !== "",
  });

const WatchRuleSpec = excerpt({
  ...referencesOf(() => NamespacedName),
  objectSelector: optional(described("Selects objects by their labels. Default: all.", LabelSelector)),
  rules: rulesOf(ResourceRule),
});
export type WatchRuleSpec = TypeOf<typeof WatchRuleSpec>;

/** Selects objects of its own namespace. */
export const WatchRule = objectsWith(satisfying(WatchRuleSpec, someDestination), Status);
export type WatchRule = TypeOf<typeof WatchRule>;

const ClusterWatchRuleSpec = excerpt({ ...referencesOf(withNamespace), rules: rulesOf(ClusterResourceRule) });
export type ClusterWatchRuleSpec = TypeOf<typeof ClusterWatchRuleSpec>;

/** Selects objects of the cluster, or of all namespaces. */
export const ClusterWatchRule = objectsWith(satisfying(ClusterWatchRuleSpec, someDestination), Status);
export type ClusterWatchRule = TypeOf<typeof ClusterWatchRule>;
