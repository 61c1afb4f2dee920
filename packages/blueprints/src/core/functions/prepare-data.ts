// PrepareData: runs a command in a Pod of its own with volumes of claims.
import { asObject, isObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { isGiven } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import type { KanisterFunction, PhaseContext, PhaseStep } from "../phase-context.ts";
import { claimAccess, type ClaimVolumes, claimVolumes } from "../pods/claim-volumes.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { podAccess } from "../pods/pod-access.ts";
import { changesOf, POD_ARGS } from "../pods/pod-args.ts";
import { runPod, stopPod } from "../pods/run-pod.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Where the Pod runs." },
  image: { type: "text", isRequired: true, about: "The image of its container." },
  command: { type: "words", isRequired: true, about: "The command and its arguments. May depend on Secrets." },
  volumes: {
    type: "map",
    about:
      "PersistentVolumeClaims, and where each is mounted. Default: those of the Deployment or StatefulSet, at /mnt/prepare_data/<claim>.",
  },
  serviceaccount: { type: "text", about: "The ServiceAccount of the Pod. Default: as of KubeTask." },
  failOnError: {
    type: "boolean",
    about: "Whether the phase fails when the command does. Default: false, the outputs of such a command count.",
  },
  ...POD_ARGS,
} as const satisfies ArgTable;

type Given = Args<typeof args>;

/** Claims by their mount path. */
const pathsOf = ({ volumes = {} }: Given, { workload }: PhaseContext): Readonly<Record<string, string>> => {
  if (Object.keys(volumes).length > 0) return volumes;
  const byPod = Object.values(asObject(workload["PersistentVolumeClaims"])).filter(isObject);
  return Object.fromEntries(
    byPod.flatMap((of) => Object.keys(of)).map((claim) => [claim, `/mnt/prepare_data/${claim}`]),
  );
};

const podOf = (
  { namespace, image, command, serviceaccount, failOnError, ...changes }: Given,
  volumes?: ClaimVolumes,
): JobPod => ({
  prefix: "prepare-data-job-",
  namespace,
  containers: [{ name: CONTAINER, image, command }],
  ...volumes,
  mayFail: failOnError !== true,
  ...(isGiven(serviceaccount) ? { serviceAccount: serviceaccount } : {}),
  ...changesOf(changes),
});

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** Runs it with volumes that are there: a Pod with another one would wait for it. */
const run = (given: Given, context: PhaseContext): PhaseStep => {
  const { namespace } = given;
  const paths = pathsOf(given, context);
  if (Object.keys(paths).length === 0)
    return fail(
      "there are no volumes: args.volumes names none, and the object is no Deployment or StatefulSet with claims",
    );
  if (context.remembered["pod"] !== undefined) return runPod(context, podOf(given));
  const found = claimVolumes(context, namespace, paths);
  return E.isLeft(found) ? found.left : runPod(context, podOf(given, found.right));
};

export const prepareData: KanisterFunction<typeof args> = {
  about: "Runs a command in a Pod of its own that has the volumes of claims, and ends with it.",
  args,
  concealed: ["command"],
  outputs: "What `kando output` writes to the log of the Pod.",
  access: ({ namespace }, own) => [...podAccess(namespace ?? own), claimAccess(namespace ?? own)],
  step: run,
  stop: (given, context) => stopPod(context, podOf(given)),
};
