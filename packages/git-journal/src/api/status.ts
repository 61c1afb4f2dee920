// Codecs of the status of the four kinds: conditions, and what a GitDestination has pushed.
import { described, excerpt, integer, list, optional, oneOf, string, type TypeOf } from "@janus/api/codec";

/** https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties */
export const Condition = excerpt({
  type: described("Ready, Reconciling, Stalled or OwnershipConflict.", string({ minLength: 1, maxLength: 316 })),
  status: described("True, False or Unknown.", oneOf("True", "False", "Unknown")),
  reason: described("Machine-readable reason, in CamelCase.", string({ maxLength: 1024 })),
  message: described("What is wrong with which object, and what to do.", string({ maxLength: 32_768 })),
  lastTransitionTime: described("When the status of this condition last changed.", string()),
  observedGeneration: optional(described("metadata.generation that the condition was set for.", integer)),
});
export type Condition = TypeOf<typeof Condition>;

const common = {
  observedGeneration: optional(described("metadata.generation observed by the controller.", integer)),
  conditions: optional(
    described("Ready, and Reconciling and Stalled for kstatus.", list(Condition, { keyedBy: "type" })),
  ),
};

export const Status = excerpt(common);
export type Status = TypeOf<typeof Status>;

export const GitRepoConfigStatus = excerpt({
  ...common,
  url: optional(described("The repository, as the controller has read it, without a password.", string())),
});

export const GitDestinationStatus = excerpt({
  ...common,
  lastCommit: optional(described("The last commit that was pushed for this destination.", string())),
  lastPushTime: optional(described("When it was pushed.", string())),
  objects: optional(described("Number of objects that have a file.", integer)),
  pending: optional(described("Number of changes that are not pushed yet.", integer)),
});
export type GitDestinationStatus = TypeOf<typeof GitDestinationStatus>;
