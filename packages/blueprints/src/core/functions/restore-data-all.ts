// RestoreDataAll: restores files from the backups that BackupDataAll has made into the volumes of their Pods.
import * as E from "fp-ts/lib/Either.js";
import { isGiven } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import { readBackupInfo } from "../data/backup-info.ts";
import { backupLocation } from "../data/backup-location.ts";
import { RESTIC_ARGS, resticAccess, type ResticPod, runResticAt, stopRestic } from "../data/restic-pod.ts";
import type { KanisterFunction, PhaseContext, PhaseStep } from "../phase-context.ts";
import { claimAccess, claimsOfPod } from "../pods/claim-volumes.ts";
import { sideBySide } from "../pods/parts.ts";
import { PODS_ARG, podsOf } from "../pods/pod-names.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Of the claims; the Pods of the restore run there." },
  image: { type: "text", isRequired: true, about: "The image of these Pods, with restic." },
  backupArtifactPrefix: { type: "text", isRequired: true, about: "That of BackupDataAll." },
  backupInfo: { type: "text", isRequired: true, about: "The output BackupAllInfo of BackupDataAll." },
  ...PODS_ARG,
  restorePath: { type: "text", about: "Below it the files get the paths that they had. Default: /." },
  ...RESTIC_ARGS,
} as const satisfies ArgTable;

type Given = Args<typeof args>;

/** Makes the Pod that restores the volumes of one Pod. Left: why they cannot be restored. */
const restoreOf = (
  given: Given,
  pod: string,
  backups: ReadonlyMap<string, string>,
  { workload }: PhaseContext,
): E.Either<string, ResticPod> => {
  const backup = backups.get(pod);
  const claims = claimsOfPod(workload, pod);
  if (backup === undefined) return E.left(`args.backupInfo has no backup of Pod ${pod}`);
  if (Object.keys(claims).length === 0)
    return E.left(`Pod ${given.namespace}/${pod} of the object has no PersistentVolumeClaims`);
  const target = isGiven(given.restorePath) ? given.restorePath : "/";
  return E.right({
    ...given,
    prefix: "restore-data-all-",
    artifactPrefix: `${given.backupArtifactPrefix}/${pod}`,
    claims,
    command: { script: "restoreById", words: [backup, target] },
  });
};

/** Makes the Pods that restore the volumes of all Pods. Left: all that is wrong. */
const restoresOf = (given: Given, context: PhaseContext): E.Either<string, readonly ResticPod[]> =>
  E.flatMap(podsOf(given.pods, context), (pods) =>
    E.flatMap(readBackupInfo(given.backupInfo), (backups) => {
      const all = pods.map((pod) => restoreOf(given, pod, backups, context));
      const problems = all.flatMap((one) => (E.isLeft(one) ? [one.left] : []));
      return problems.length > 0
        ? E.left(problems.join("; "))
        : E.right(all.flatMap((one) => (E.isRight(one) ? [one.right] : [])));
    }),
  );

/** @param step what is next in one of them */
const inEach = (
  given: Given,
  context: PhaseContext,
  step: (context: PhaseContext, restore: ResticPod) => PhaseStep,
): PhaseStep => {
  const restores = restoresOf(given, context);
  if (E.isLeft(restores)) return { type: "fail", message: restores.left };
  return sideBySide(
    context,
    restores.right.map((restore) => (own) => step(own, restore)),
  );
};

export const restoreDataAll: KanisterFunction<typeof args> = {
  about:
    "Restores files from the backups of BackupDataAll into the volumes of the Pods of the object, in a Pod of its own for each, side by side.",
  args,
  outputs: "None.",
  access: ({ namespace }, own) => [...resticAccess(namespace ?? own), claimAccess(namespace ?? own)],
  readsProfile: true,
  step: (given, context) => {
    const place = backupLocation(context);
    return E.isLeft(place)
      ? place.left
      : inEach(given, context, (own, restore) => runResticAt(place.right, own, restore, () => ({})));
  },
  stop: (given, context) => inEach(given, context, stopRestic),
};
