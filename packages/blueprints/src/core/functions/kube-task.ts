// KubeTask: runs a command in a Pod of its own, to the end.
import { isGiven } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { podAccess } from "../pods/pod-access.ts";
import { changesOf, POD_ARGS } from "../pods/pod-args.ts";
import { runPod, stopPod } from "../pods/run-pod.ts";

const args = {
  namespace: { type: "text", about: "Where the Pod runs. Default: the namespace of the ActionSet." },
  image: { type: "text", isRequired: true, about: "The image of its container." },
  command: { type: "words", isRequired: true, about: "The command and its arguments. May depend on Secrets." },
  ...POD_ARGS,
} as const satisfies ArgTable;

const podOf = ({ namespace, image, command, ...changes }: Args<typeof args>, { actionSet }: PhaseContext): JobPod => ({
  prefix: "kanister-job-",
  namespace: isGiven(namespace) ? namespace : actionSet.metadata.namespace,
  containers: [{ name: CONTAINER, image, command }],
  ...changesOf(changes),
});

export const kubeTask: KanisterFunction<typeof args> = {
  about: "Runs a command in a Pod of its own, and ends with it.",
  args,
  outputs: "What `kando output` writes to the log of the Pod.",
  concealed: ["command"],
  access: ({ namespace }, own) => podAccess(isGiven(namespace) ? namespace : own),
  step: (given, context) => runPod(context, podOf(given, context)),
  stop: (given, context) => stopPod(context, podOf(given, context)),
};
