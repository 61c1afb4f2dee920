// Runs restic in a Pod of its own, to the end, and reads what it says.
import * as E from "fp-ts/lib/Either.js";
import type { ArgTable } from "../args.ts";
import type { Access, PhaseContext, PhaseStep } from "../phase-context.ts";
import { type ClaimVolumes, claimVolumes } from "../pods/claim-volumes.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { argsAccess, podAccess } from "../pods/pod-access.ts";
import { changesOf, POD_ARGS, type PodArgs } from "../pods/pod-args.ts";
import { runPod, stopPod } from "../pods/run-pod.ts";
import type { Text } from "../text.ts";
import { type BackupLocation, backupLocation } from "./backup-location.ts";
import { type ResticCommand, resticCommand } from "./restic-commands.ts";
import { resticEnv } from "./restic-repository.ts";

/** Arguments of functions that run restic. */
export const REPOSITORY_ARGS = {
  encryptionKey: {
    type: "content",
    about: "The password of the repository. Default: Kanister's, which everyone knows.",
  },
  insecureTLS: { type: "boolean", about: "Whether certificates of the storage are not verified. Default: false." },
} as const satisfies ArgTable;

/** Arguments of functions that run restic in a Pod of its own. */
export const RESTIC_ARGS = { ...REPOSITORY_ARGS, ...POD_ARGS } as const satisfies ArgTable;

export const IMAGE_ARG = {
  image: { type: "text", about: "The image of the Pod, with restic. Default: that of --tools-image." },
} as const satisfies ArgTable;

/** The credentials go to a Secret beside the Pod. */
export const resticAccess = (namespace: string): readonly Access[] => [
  ...podAccess(namespace),
  ...argsAccess(namespace),
];

export interface ResticPod extends PodArgs {
  /** The prefix of the name of the Pod. */
  readonly prefix: string;
  readonly namespace: string;
  readonly image?: string | undefined;
  /** The path of the repository below the bucket. */
  readonly artifactPrefix: string;
  readonly command: Omit<ResticCommand, "insecureTls">;
  /** Claims, and where they are mounted. */
  readonly claims?: Readonly<Record<string, string>>;
  readonly encryptionKey?: Text;
  readonly insecureTLS?: boolean;
}

const NO_VOLUMES: ClaimVolumes = { volumes: [], mounts: [] };

const podOf = (
  { toolsImage }: PhaseContext["settings"],
  { prefix, namespace, image = "", command, insecureTLS = false, ...changes }: ResticPod,
): JobPod => ({
  prefix,
  namespace,
  containers: [
    {
      name: CONTAINER,
      image: image === "" ? toolsImage : image,
      command: resticCommand({ ...command, insecureTls: insecureTLS }),
    },
  ],
  ...changesOf(changes),
});

/** Reads the last lines of restic. Undefined: they are not what they should be. */
type Result = (lines: readonly string[]) => Readonly<Record<string, string>> | undefined;

/** Guarantees: restic runs at most once in an attempt; no credential is in an object but the Secret of its Pod. */
export const runRestic = (context: PhaseContext, pod: ResticPod, result: Result): PhaseStep => {
  const place = backupLocation(context);
  return E.isLeft(place) ? place.left : runResticAt(place.right, context, pod, result);
};

/** Runs restic for a known location, as {@link runRestic}. */
export const runResticAt = (
  place: BackupLocation,
  context: PhaseContext,
  pod: ResticPod,
  result: Result,
): PhaseStep => {
  const env = resticEnv(place, pod.artifactPrefix, pod.encryptionKey);
  if (E.isLeft(env)) return { type: "fail", message: env.left };
  // The Pod is as it was made, whatever has become of the claims.
  const isMade = context.remembered["pod"] !== undefined;
  const volumes =
    pod.claims === undefined || isMade ? E.right(NO_VOLUMES) : claimVolumes(context, pod.namespace, pod.claims);
  if (E.isLeft(volumes)) return volumes.left;
  const insecureTLS = pod.insecureTLS === true || place.skipSSLVerify;
  const job: JobPod = {
    ...podOf(context.settings, { ...pod, insecureTLS }),
    ...(volumes.right.volumes.length === 0 ? {} : volumes.right),
    secretEnv: env.right,
  };
  const step = runPod(context, job);
  if (step.type !== "end") return step;
  const { tail } = context.log;
  const output = result(tail);
  return output === undefined
    ? { type: "fail", message: `restic ended without the result that it should have; last lines: ${tail.join("\n")}` }
    : { type: "end", output };
};

export const stopRestic = (context: PhaseContext, pod: ResticPod): PhaseStep =>
  stopPod(context, podOf(context.settings, pod));
