// MultiContainerRun: runs two commands side by side in a Pod of its own, with a volume that they share.
import { isObject, type Json, type JsonObject } from "@janus/types";
import { isGiven } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { podAccess } from "../pods/pod-access.ts";
import { changesOf, POD_ARGS } from "../pods/pod-args.ts";
import { runPod, stopPod } from "../pods/run-pod.ts";

const args = {
  namespace: { type: "text", about: "Where the Pod runs. Default: the namespace of the ActionSet." },
  initImage: { type: "text", about: "The image of a container that runs before the others. Default: there is none." },
  initCommand: { type: "words", about: "Its command. May depend on Secrets." },
  backgroundImage: { type: "text", isRequired: true, about: "The image of the container `background`." },
  backgroundCommand: { type: "words", isRequired: true, about: "Its command. May depend on Secrets." },
  outputImage: {
    type: "text",
    isRequired: true,
    about: "The image of the container `output`, whose log has the outputs.",
  },
  outputCommand: { type: "words", isRequired: true, about: "Its command. May depend on Secrets." },
  sharedVolumeMedium: { type: "text", about: "The medium of the emptyDir that all share. Default: that of the node." },
  sharedVolumeSizeLimit: { type: "text", about: "Its sizeLimit. Default: none." },
  sharedVolumeDir: { type: "text", about: "Where it is mounted. Default: /tmp/." },
  ...POD_ARGS,
} as const satisfies ArgTable;

const SHARED = "shared";

const podOf = (all: Args<typeof args>, { actionSet }: PhaseContext): JobPod => {
  const { namespace, sharedVolumeDir } = all;
  const emptyDir = {
    ...(isGiven(all.sharedVolumeMedium) ? { medium: all.sharedVolumeMedium } : {}),
    ...(isGiven(all.sharedVolumeSizeLimit) ? { sizeLimit: all.sharedVolumeSizeLimit } : {}),
  };
  return {
    prefix: "kanister-job-",
    namespace: isGiven(namespace) ? namespace : actionSet.metadata.namespace,
    containers: [
      { name: "output", image: all.outputImage, command: all.outputCommand },
      { name: "background", image: all.backgroundImage, command: all.backgroundCommand },
    ],
    ...(isGiven(all.initImage)
      ? { initContainers: [{ name: "init", image: all.initImage, command: all.initCommand ?? [] }] }
      : {}),
    volumes: [{ name: SHARED, emptyDir }],
    mounts: [{ name: SHARED, mountPath: isGiven(sharedVolumeDir) ? sharedVolumeDir : "/tmp/" }],
    ...changesOf({
      ...all,
      podAnnotations: { ...all.podAnnotations, "kubectl.kubernetes.io/default-container": "output" },
    }),
  };
};

const isNamed = (one: Json, ...names: readonly string[]): one is JsonObject =>
  isObject(one) && names.includes(one["name"] as string);

/** An ActionSet that overrides `container`, and none of these two, means both. */
const withOverride = (context: PhaseContext): PhaseContext => {
  const { override } = context.pod;
  const { containers } = override;
  if (!Array.isArray(containers)) return context;
  const all = containers as readonly Json[];
  const worker = all.find((one) => isNamed(one, CONTAINER));
  if (!isObject(worker) || all.some((one) => isNamed(one, "output", "background"))) return context;
  const others = all.filter((one) => one !== worker);
  const both = ["output", "background"].map((name) => ({ ...worker, name }));
  return { ...context, pod: { ...context.pod, override: { ...override, containers: [...others, ...both] } } };
};

export const multiContainerRun: KanisterFunction<typeof args> = {
  about:
    "Runs the commands of two containers side by side in a Pod of its own, after that of a third one, if there is one; they share a volume. Ends with both.",
  args,
  concealed: ["initCommand", "backgroundCommand", "outputCommand"],
  outputs: "What `kando output` writes to the log of the container `output`.",
  access: ({ namespace }, own) => podAccess(isGiven(namespace) ? namespace : own),
  step: (all, context) => runPod(withOverride(context), podOf(all, context)),
  stop: (all, context) => stopPod(context, podOf(all, context)),
};
