// KubeExec: runs a command in a container of a Pod that is there.
import { isGiven } from "../../api/object-reference.ts";
import type { ArgTable } from "../args.ts";
import { commandAccess, commandOutputs } from "../exec/run-commands.ts";
import type { KanisterFunction } from "../phase-context.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Where the Pod is." },
  pod: { type: "text", isRequired: true, about: "The name of the Pod." },
  container: {
    type: "text",
    about:
      "The container. Default: that of the annotation kubectl.kubernetes.io/default-container, else the only one of the Pod.",
  },
  command: {
    type: "words",
    isRequired: true,
    about: "The command and its arguments. May depend on Secrets, if the container has sh.",
  },
} as const satisfies ArgTable;

export const kubeExec: KanisterFunction<typeof args> = {
  about: "Runs a command in a container of a Pod that is running.",
  args,
  outputs: "What `kando output` writes to stdout.",
  access: ({ namespace, pod }, own) => commandAccess(namespace ?? own, pod),
  step: ({ namespace, pod, container, command: words }, context) =>
    commandOutputs(context, [{ namespace, pod, ...(isGiven(container) ? { container } : {}), words }]),
};
