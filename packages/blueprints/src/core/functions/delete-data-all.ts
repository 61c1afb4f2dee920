// DeleteDataAll: deletes the backups that BackupDataAll has made.
import * as E from "fp-ts/lib/Either.js";
import type { Args, ArgTable } from "../args.ts";
import { readBackupInfo } from "../data/backup-info.ts";
import { IMAGE_ARG, RESTIC_ARGS, resticAccess, type ResticPod, runRestic, stopRestic } from "../data/restic-pod.ts";
import type { KanisterFunction } from "../phase-context.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Where the Pod runs." },
  backupArtifactPrefix: { type: "text", isRequired: true, about: "That of BackupDataAll." },
  backupInfo: { type: "text", isRequired: true, about: "The output BackupAllInfo of BackupDataAll." },
  reclaimSpace: { type: "boolean", about: "Whether the space is freed at once, which takes long. Default: false." },
  ...IMAGE_ARG,
  ...RESTIC_ARGS,
} as const satisfies ArgTable;

/** @param backups their IDs, by the names of the Pods */
const podOf = (given: Args<typeof args>, backups: ReadonlyMap<string, string>): ResticPod => ({
  ...given,
  prefix: "delete-data-all-",
  artifactPrefix: given.backupArtifactPrefix,
  command: { script: "forgetEach", words: [...backups].flat(), prunes: given.reclaimSpace === true },
});

export const deleteDataAll: KanisterFunction<typeof args> = {
  about: "Deletes the backups of BackupDataAll, in a Pod of its own. One that is not there is as good as deleted.",
  args,
  outputs: "None.",
  access: ({ namespace }, own) => resticAccess(namespace ?? own),
  readsProfile: true,
  step: (given, context) => {
    const backups = readBackupInfo(given.backupInfo);
    return E.isLeft(backups)
      ? { type: "fail", message: backups.left }
      : runRestic(context, podOf(given, backups.right), () => ({}));
  },
  stop: (given, context) => stopRestic(context, podOf(given, new Map())),
};
