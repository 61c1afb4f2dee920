// The codec of an ActionSet: actions of Blueprints on objects, and what has become of them.
import {
  described,
  excerpt,
  integer,
  list,
  openObject,
  optional,
  string,
  strings,
  type TypeOf,
} from "@janus/api/codec";
import { Artifact } from "./blueprint.ts";
import { mapOf } from "./map-of.ts";
import { ObjectReference } from "./object-reference.ts";

export const ActionSpec = excerpt({
  name: optional(described("The action of the Blueprint.", string())),
  object: optional(described("The object that the action is for.", ObjectReference)),
  blueprint: optional(described("The Blueprint, in the namespace of the ActionSet.", string())),
  artifacts: optional(
    described(
      "What the action is given, for .ArtifactsIn, as another ActionSet has it in its status.",
      mapOf(Artifact),
    ),
  ),
  configMaps: optional(
    described("ConfigMaps, for .ConfigMaps. Without a namespace: that of the ActionSet.", mapOf(ObjectReference)),
  ),
  secrets: optional(
    described("Secrets, for .Secrets. Without a namespace: that of the ActionSet.", mapOf(ObjectReference)),
  ),
  profile: optional(
    described(
      "The Profile, for .Profile and functions that move data. Without a namespace: that of the ActionSet.",
      ObjectReference,
    ),
  ),
  podOverride: optional(described("Merged into the specs of Pods that functions create.", openObject({}))),
  options: optional(described("Texts of your choice, for .Options.", strings)),
  preferredVersion: optional(described("Of the functions. There is one version of each: it has no effect.", string())),
  podLabels: optional(described("Labels of Pods that functions create.", strings)),
  podAnnotations: optional(described("Annotations of Pods that functions create.", strings)),
});
export type ActionSpec = TypeOf<typeof ActionSpec>;

export const ActionSetSpec = excerpt({
  actions: optional(described("Actions of Blueprints, each on an object.", list(ActionSpec, { atomic: true }))),
  ttlSecondsAfterFinished: optional(
    described(
      "Seconds after its end after which the ActionSet is deleted, whether it is complete or failed. Default: it is kept.",
      integer,
    ),
  ),
  executionMode: optional(
    described(
      "Parallel or Sequential: whether the actions are executed side by side, or one after the other. Default: Parallel.",
      string(),
    ),
  ),
  timeout: optional(
    described("How long all phases may take together, as a duration of Go. Default: no bound.", string()),
  ),
  serviceAccountName: optional(
    described(
      "ServiceAccount in the ActionSet's namespace that the controller impersonates for all that the actions read and change. Default: that of the controller's flag --default-service-account.",
      string(),
    ),
  ),
});
export type ActionSetSpec = TypeOf<typeof ActionSetSpec>;

const progress = {
  progressPercent: optional(string()),
  sizeDownloadedB: optional(integer),
  sizeUploadedB: optional(integer),
  estimatedDownloadSizeB: optional(integer),
  estimatedUploadSizeB: optional(integer),
  estimatedTimeSeconds: optional(integer),
  lastTransitionTime: optional(string()),
};

const PhaseStatus = excerpt({
  name: optional(string()),
  state: optional(string()),
  attempts: optional(described("How often it was executed, where that is more than once.", integer)),
  output: optional(openObject({})),
  progress: optional(excerpt(progress)),
});
export type PhaseStatus = TypeOf<typeof PhaseStatus>;

const ActionStatus = excerpt({
  name: optional(string()),
  object: optional(ObjectReference),
  blueprint: optional(string()),
  phases: optional(list(PhaseStatus, { atomic: true })),
  artifacts: optional(mapOf(Artifact)),
  deferPhase: optional(PhaseStatus),
});

const Condition = excerpt({
  type: string(),
  status: optional(string()),
  reason: optional(string()),
  message: optional(string()),
  lastTransitionTime: optional(string()),
});
export type Condition = TypeOf<typeof Condition>;

export const ActionSetStatus = excerpt({
  state: optional(string()),
  actions: optional(list(ActionStatus, { atomic: true })),
  error: optional(excerpt({ message: optional(string()) })),
  progress: optional(
    excerpt({
      runningPhase: optional(string()),
      percentCompleted: optional(string()),
      sizeDownloadedB: optional(integer),
      sizeUploadedB: optional(integer),
      estimatedDownloadSizeB: optional(integer),
      estimatedUploadSizeB: optional(integer),
      lastTransitionTime: optional(string()),
    }),
  ),
  conditions: optional(list(Condition, { keyedBy: "type" })),
  startTime: optional(string()),
  completionTime: optional(string()),
});
export type ActionSetStatus = TypeOf<typeof ActionSetStatus>;

const Metadata = excerpt({
  name: string(),
  namespace: string(),
  uid: string(),
  resourceVersion: string(),
  deletionTimestamp: optional(string()),
  finalizers: optional(list(string(), { atomic: true })),
  labels: optional(strings),
});

export const ActionSet = excerpt({
  metadata: Metadata,
  spec: optional(ActionSetSpec),
  status: optional(ActionSetStatus),
});
export type ActionSet = TypeOf<typeof ActionSet>;
