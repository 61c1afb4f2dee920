// PrepareData: runs a command in a Pod of its own with volumes of claims.
import { asObject, isAbsent, isObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Args, ArgTable } from "../args.ts";
import { show } from "../names.ts";
import { inquiryOf, type KanisterFunction, type PhaseContext, type PhaseStep } from "../phase-context.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { podAccess } from "../pods/pod-access.ts";
import { runPod, stopPod } from "../pods/run-pod.ts";
import { claims, get } from "../requests.ts";

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
  podOverride: { type: "object", about: "Merged into the spec of the Pod." },
  podLabels: { type: "map", about: "Labels of the Pod." },
  podAnnotations: { type: "map", about: "Annotations of the Pod." },
} as const satisfies ArgTable;

type Given = Args<typeof args>;

interface Volume {
  readonly claim: string;
  readonly path: string;
  readonly isReadOnly: boolean;
}

/** Claims by their mount path. */
const pathsOf = ({ volumes = {} }: Given, { workload }: PhaseContext): Readonly<Record<string, string>> => {
  if (Object.keys(volumes).length > 0) return volumes;
  const byPod = Object.values(asObject(workload["PersistentVolumeClaims"])).filter(isObject);
  return Object.fromEntries(
    byPod.flatMap((of) => Object.keys(of)).map((claim) => [claim, `/mnt/prepare_data/${claim}`]),
  );
};

const podOf = (
  { namespace, image, command, serviceaccount, failOnError, podOverride, podLabels, podAnnotations }: Given,
  volumes: readonly Volume[],
): JobPod => ({
  prefix: "prepare-data-job-",
  namespace,
  containers: [{ name: CONTAINER, image, command }],
  volumes: volumes.map(({ claim: claimName, isReadOnly }, at) => ({
    name: `vol-${at}`,
    persistentVolumeClaim: { claimName, ...(isReadOnly ? { readOnly: true } : {}) },
  })),
  mounts: volumes.map(({ path: mountPath, isReadOnly }, at) => ({
    name: `vol-${at}`,
    mountPath,
    ...(isReadOnly ? { readOnly: true } : {}),
  })),
  mayFail: failOnError !== true,
  ...(serviceaccount === undefined || serviceaccount === "" ? {} : { serviceAccount: serviceaccount }),
  ...(podOverride === undefined ? {} : { override: podOverride }),
  ...(podLabels === undefined ? {} : { labels: podLabels }),
  ...(podAnnotations === undefined ? {} : { annotations: podAnnotations }),
});

const fail = (message: string): PhaseStep => ({ type: "fail", message });

/** Runs it with volumes that are there: a Pod with another one would wait for it. */
const run = (given: Given, context: PhaseContext): PhaseStep => {
  const { namespace } = given;
  const paths = Object.entries(pathsOf(given, context));
  if (paths.length === 0)
    return fail(
      "there are no volumes: args.volumes names none, and the object is no Deployment or StatefulSet with claims",
    );
  if (context.remembered["pod"] !== undefined) return runPod(context, podOf(given, []));
  const { ask, missing } = inquiryOf(context);
  const found = paths.map(([claim, path]): E.Either<string, Volume> => {
    const ref = { resource: claims, namespace, name: claim };
    const answer = ask(get("read-claim", `claim/${claim}`, ref, context.serviceAccount));
    if (answer === undefined) return E.left("");
    if (E.isRight(answer)) {
      const { accessModes } = asObject(answer.right["spec"]);
      const isReadOnly = Array.isArray(accessModes) && accessModes.includes("ReadOnlyMany");
      return E.right({ claim, path, isReadOnly });
    }
    const shown = `PersistentVolumeClaim ${show(ref)}`;
    return E.left(isAbsent(answer.left) ? `${shown} not found` : `${shown} cannot be read: ${messageOf(answer.left)}`);
  });
  if (missing.length > 0) return { type: "run", effects: missing };
  const problems = found.flatMap((one) => (E.isLeft(one) ? [one.left] : []));
  return problems.length > 0
    ? fail(problems.join("; "))
    : runPod(
        context,
        podOf(
          given,
          found.flatMap((one) => (E.isRight(one) ? [one.right] : [])),
        ),
      );
};

export const prepareData: KanisterFunction<typeof args> = {
  about: "Runs a command in a Pod of its own that has the volumes of claims, and ends with it.",
  args,
  concealed: ["command"],
  outputs: "What `kando output` writes to the log of the Pod.",
  access: ({ namespace }, own) => [
    ...podAccess(namespace ?? own),
    { verb: "get", group: "", resource: "persistentvolumeclaims", namespace: namespace ?? own },
  ],
  step: run,
  stop: (given, context) => stopPod(context, podOf(given, [])),
};
