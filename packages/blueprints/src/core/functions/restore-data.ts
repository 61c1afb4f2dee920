// RestoreData: restores files from a backup that restic has made into the volumes of claims.
import { isGiven } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import { RESTIC_ARGS, resticAccess, type ResticPod, runRestic, stopRestic } from "../data/restic-pod.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";
import { claimAccess, claimsOfPod } from "../pods/claim-volumes.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Of the claims; the Pod runs there." },
  image: { type: "text", isRequired: true, about: "The image of the Pod, with restic." },
  backupArtifactPrefix: { type: "text", isRequired: true, about: "The path of the repository in the bucket." },
  backupIdentifier: { type: "text", about: "The backup. Either this, or backupTag." },
  backupTag: { type: "text", about: "The tag of the backup: the latest one that has it." },
  pod: {
    type: "text",
    about: "The Pod of the object of the action whose volumes are restored. Either this, or volumes.",
  },
  volumes: { type: "map", about: "PersistentVolumeClaims, and where each is mounted." },
  restorePath: { type: "text", about: "Below it the files get the paths that they had. Default: /." },
  backupPath: {
    type: "text",
    about: "Only what the backup has below this path, and without it. Takes restic 0.16. Default: all.",
  },
  ...RESTIC_ARGS,
} as const satisfies ArgTable;

type Given = Args<typeof args>;

const claimsOf = ({ pod, volumes = {} }: Given, { workload }: PhaseContext): Readonly<Record<string, string>> =>
  isGiven(pod) ? claimsOfPod(workload, pod) : volumes;

const podOf = (given: Given, context: PhaseContext): ResticPod => {
  const { backupIdentifier = "", backupTag, restorePath, backupPath } = given;
  const target = isGiven(restorePath) ? restorePath : "/";
  const within = isGiven(backupPath) ? `:${backupPath}` : "";
  return {
    ...given,
    prefix: "restore-data-",
    artifactPrefix: given.backupArtifactPrefix,
    claims: claimsOf(given, context),
    command: isGiven(backupTag)
      ? { script: "restoreByTag", words: [backupTag, `latest${within}`, target] }
      : { script: "restoreById", words: [`${backupIdentifier}${within}`, target] },
  };
};

const problemOf = (given: Given, context: PhaseContext): string | undefined => {
  const { pod, volumes = {}, backupIdentifier, backupTag } = given;
  if (isGiven(pod) === Object.keys(volumes).length > 0) return "either args.pod or args.volumes is required, not both";
  if (isGiven(backupIdentifier) === isGiven(backupTag))
    return "either args.backupIdentifier or args.backupTag is required, not both";
  return Object.keys(claimsOf(given, context)).length === 0
    ? `Pod ${given.namespace}/${pod ?? ""} of the object has no PersistentVolumeClaims`
    : undefined;
};

export const restoreData: KanisterFunction<typeof args> = {
  about: "Restores files from a backup of restic into the volumes of PersistentVolumeClaims, in a Pod of its own.",
  args,
  outputs: "None.",
  access: ({ namespace }, own) => [...resticAccess(namespace ?? own), claimAccess(namespace ?? own)],
  readsProfile: true,
  step: (given, context) => {
    const message = problemOf(given, context);
    return message === undefined ? runRestic(context, podOf(given, context), () => ({})) : { type: "fail", message };
  },
  stop: (given, context) => stopRestic(context, podOf(given, context)),
};
