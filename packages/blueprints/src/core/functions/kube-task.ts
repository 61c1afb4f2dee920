// KubeTask: runs a command in a Pod of its own, to the end.
import type { Args, ArgTable } from "../args.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { podAccess } from "../pods/pod-access.ts";
import { runPod, stopPod } from "../pods/run-pod.ts";

const args = {
  namespace: { type: "text", about: "Where the Pod runs. Default: the namespace of the ActionSet." },
  image: { type: "text", isRequired: true, about: "The image of its container." },
  command: { type: "words", isRequired: true, about: "The command and its arguments. May depend on Secrets." },
  podOverride: { type: "object", about: "Merged into the spec of the Pod." },
  podLabels: { type: "map", about: "Labels of the Pod." },
  podAnnotations: { type: "map", about: "Annotations of the Pod." },
} as const satisfies ArgTable;

const podOf = (
  { namespace, image, command, podOverride, podLabels, podAnnotations }: Args<typeof args>,
  { actionSet }: PhaseContext,
): JobPod => ({
  prefix: "kanister-job-",
  namespace: namespace === undefined || namespace === "" ? actionSet.metadata.namespace : namespace,
  containers: [{ name: CONTAINER, image, command }],
  ...(podOverride === undefined ? {} : { override: podOverride }),
  ...(podLabels === undefined ? {} : { labels: podLabels }),
  ...(podAnnotations === undefined ? {} : { annotations: podAnnotations }),
});

export const kubeTask: KanisterFunction<typeof args> = {
  about: "Runs a command in a Pod of its own, and ends with it.",
  args,
  outputs: "What `kando output` writes to the log of the Pod.",
  concealed: ["command"],
  access: ({ namespace }, own) => podAccess(namespace === undefined || namespace === "" ? own : namespace),
  step: (given, context) => runPod(context, podOf(given, context)),
  stop: (given, context) => stopPod(context, podOf(given, context)),
};
