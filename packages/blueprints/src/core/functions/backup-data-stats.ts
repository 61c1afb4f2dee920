// BackupDataStats: tells how large a backup is that restic has made.
import type { Args, ArgTable } from "../args.ts";
import { readStats } from "../data/restic-output.ts";
import { IMAGE_ARG, RESTIC_ARGS, resticAccess, type ResticPod, runRestic, stopRestic } from "../data/restic-pod.ts";
import type { KanisterFunction } from "../phase-context.ts";

const { insecureTLS: _, ...common } = RESTIC_ARGS;

const args = {
  namespace: { type: "text", isRequired: true, about: "Where the Pod runs." },
  backupArtifactPrefix: { type: "text", isRequired: true, about: "The path of the repository in the bucket." },
  backupID: { type: "text", isRequired: true, about: "The backup." },
  statsMode: { type: "text", about: "What is counted, as restic names it. Default: restore-size." },
  ...IMAGE_ARG,
  ...common,
} as const satisfies ArgTable;

const podOf = (given: Args<typeof args>): ResticPod => {
  const { statsMode = "" } = given;
  return {
    ...given,
    prefix: "backup-data-stats-",
    artifactPrefix: given.backupArtifactPrefix,
    command: { script: "stats", words: [given.backupID, statsMode === "" ? "restore-size" : statsMode] },
  };
};

export const backupDataStats: KanisterFunction<typeof args> = {
  about: "Tells how large a backup of restic is, in a Pod of its own.",
  args,
  outputs: "mode, fileCount, size, version.",
  access: ({ namespace }, own) => resticAccess(namespace ?? own),
  readsProfile: true,
  step: (given, context) =>
    runRestic(context, podOf(given), (lines) => {
      const stats = readStats(lines);
      return stats && { ...stats, version: "v0.0.0" };
    }),
  stop: (given, context) => stopRestic(context, podOf(given)),
};
