// KubeExecAll: runs a command in several containers of several Pods, side by side.
import type { ArgTable } from "../args.ts";
import { commandAccess, commandOutputs } from "../exec/run-commands.ts";
import type { KanisterFunction } from "../phase-context.ts";

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

/** Each takes a connection. */
const MOST = 100;

const wordsIn = (text: string): readonly string[] => text.split(/\s+/u).filter((word) => word !== "");

export const kubeExecAll: KanisterFunction<typeof args> = {
  about: "Runs a command in all of these containers of all of these Pods, side by side.",
  args,
  outputs: "What `kando output` writes to stdout; of the same name, that of the last container of the last Pod.",
  access: ({ namespace }, own) => commandAccess(namespace ?? own),
  step: ({ namespace, pods, containers, command }, context) => {
    const places = wordsIn(pods).flatMap((pod) =>
      wordsIn(containers).map((container) => ({ namespace, pod, container })),
    );
    if (places.length === 0) return { type: "fail", message: "args.pods and args.containers name no container" };
    if (places.length > MOST)
      return { type: "fail", message: `the command is to run ${places.length} times, ${MOST} are the most` };
    return commandOutputs(context, places, command);
  },
};
