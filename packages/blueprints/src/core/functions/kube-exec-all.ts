// KubeExecAll: runs a command in several containers of several Pods, side by side.
import type { ArgTable } from "../args.ts";
import { commandAccess, commandOutputs } from "../exec/run-commands.ts";
import type { KanisterFunction } from "../phase-context.ts";
import { MOST_PODS, namesIn } from "../pods/pod-names.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Where the Pods are." },
  pods: { type: "text", isRequired: true, about: "Their names, with spaces between them." },
  containers: { type: "text", isRequired: true, about: "The containers of each, with spaces between them." },
  command: {
    type: "words",
    isRequired: true,
    about: "The command and its arguments. May depend on Secrets, if the containers have sh.",
  },
} as const satisfies ArgTable;

export const kubeExecAll: KanisterFunction<typeof args> = {
  about: "Runs a command in all of these containers of all of these Pods, side by side.",
  args,
  outputs: "What `kando output` writes to stdout; of the same name, that of the last container of the last Pod.",
  access: ({ namespace }, own) => commandAccess(namespace ?? own),
  step: ({ namespace, pods, containers, command: words }, context) => {
    const commands = namesIn(pods).flatMap((pod) =>
      namesIn(containers).map((container) => ({ namespace, pod, container, words })),
    );
    if (commands.length === 0) return { type: "fail", message: "args.pods and args.containers name no container" };
    if (commands.length > MOST_PODS)
      return { type: "fail", message: `the command is to run ${commands.length} times, ${MOST_PODS} are the most` };
    return commandOutputs(context, commands);
  },
};
