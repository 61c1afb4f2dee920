// MultiContainerRun: runs two commands side by side in a Pod of its own, with a volume that they share.
import { isObject, type Json, type JsonObject } from "@janus/types";
import type { Args, ArgTable } from "../args.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { podAccess } from "../pods/pod-access.ts";
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
  podOverride: { type: "object", about: "Merged into the spec of the Pod." },
  podLabels: { type: "map", about: "Labels of the Pod." },
  podAnnotations: { type: "map", about: "Annotations of the Pod." },
} as const satisfies ArgTable;

const SHARED = "shared";

const given = (text: string | undefined): text is string => text !== undefined && text !== "";

const podOf = (all: Args<typeof args>, { actionSet }: PhaseContext): JobPod => {
  const { namespace, podOverride, podLabels, podAnnotations, sharedVolumeDir } = all;
  const emptyDir = {
    ...(given(all.sharedVolumeMedium) ? { medium: all.sharedVolumeMedium } : {}),
    ...(given(all.sharedVolumeSizeLimit) ? { sizeLimit: all.sharedVolumeSizeLimit } : {}),
  };
  return {
    prefix: "kanister-job-",
    namespace: given(namespace) ? namespace : actionSet.metadata.namespace,
    containers: [
      { name: "output", image: all.outputImage, command: all.outputCommand },
      { name: "background", image: all.backgroundImage, command: all.backgroundCommand },
    ],
    ...(given(all.initImage)
      ? { initContainers: [{ name: "init", image: all.initImage, command: all.initCommand ?? [] }] }
      : {}),
    volumes: [{ name: SHARED, emptyDir }],
    mounts: [{ name: SHARED, mountPath: given(sharedVolumeDir) ? sharedVolumeDir : "/tmp/" }],
    ...(podOverride === undefined ? {} : { override: podOverride }),
    ...(podLabels === undefined ? {} : { labels: podLabels }),
    annotations: { ...podAnnotations, "kubectl.kubernetes.io/default-container": "output" },
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
  access: ({ namespace }, own) => podAccess(given(namespace) ? namespace : own),
  step: (all, context) => runPod(withOverride(context), podOf(all, context)),
  stop: (all, context) => stopPod(context, podOf(all, context)),
};
