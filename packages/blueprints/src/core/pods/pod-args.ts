// The arguments with which a Blueprint changes the Pod of a phase: the same for all functions that have one.
import type { Args, ArgTable } from "../args.ts";
import type { JobPod } from "./job-pod.ts";

export const POD_ARGS = {
  podOverride: { type: "object", about: "Merged into the spec of the Pod." },
  podLabels: { type: "map", about: "Labels of the Pod." },
  podAnnotations: { type: "map", about: "Annotations of the Pod." },
} as const satisfies ArgTable;

export type PodArgs = Args<typeof POD_ARGS>;

/** The arguments that say something of the Pod. */
export const changesOf = ({
  podOverride,
  podLabels,
  podAnnotations,
}: PodArgs): Pick<JobPod, "override" | "labels" | "annotations"> => ({
  ...(podOverride === undefined ? {} : { override: podOverride }),
  ...(podLabels === undefined ? {} : { labels: podLabels }),
  ...(podAnnotations === undefined ? {} : { annotations: podAnnotations }),
});
