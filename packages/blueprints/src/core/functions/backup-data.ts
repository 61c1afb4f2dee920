// BackupData: backs up a folder of a Pod that is there, with the restic of one of its containers.
import type { ArgTable } from "../args.ts";
import { backUpPods, FOLDER_ARGS } from "../data/backup-in-pods.ts";
import { commandAccess } from "../exec/run-commands.ts";
import type { KanisterFunction } from "../phase-context.ts";

const args = {
  pod: { type: "text", isRequired: true, about: "The name of the Pod." },
  ...FOLDER_ARGS,
} as const satisfies ArgTable;

export const backupData: KanisterFunction<typeof args> = {
  about:
    "Backs up a folder of a Pod that is running, with the restic of one of its containers. A backup that this phase has made before is its result.",
  args,
  outputs: "backupID, backupTag, fileCount, size, phySize, version.",
  access: ({ namespace, pod }, own) => commandAccess(namespace ?? own, pod),
  readsProfile: true,
  step: (given, context) => {
    const done = backUpPods(context, [{ ...given, artifactPrefix: given.backupArtifactPrefix }], given);
    if ("type" in done) return done;
    const [{ backup, tag } = { backup: {}, tag: "" }] = done;
    return { type: "end", output: { ...backup, backupTag: tag, version: "v0.0.0" } };
  },
};
