// BackupDataAll: backs up a folder of each of several Pods that are there, with the restic of one of its containers.
import * as E from "fp-ts/lib/Either.js";
import type { ArgTable } from "../args.ts";
import { backUpPods, FOLDER_ARGS } from "../data/backup-in-pods.ts";
import { writeBackupInfo } from "../data/backup-info.ts";
import { commandAccess } from "../exec/run-commands.ts";
import type { KanisterFunction } from "../phase-context.ts";
import { PODS_ARG, podsOf } from "../pods/pod-names.ts";

const args = { ...PODS_ARG, ...FOLDER_ARGS } as const satisfies ArgTable;

export const backupDataAll: KanisterFunction<typeof args> = {
  about:
    "Backs up a folder of each of several Pods that are running, side by side, each into a repository of its own: the path has the name of the Pod at its end.",
  args,
  outputs: "BackupAllInfo (for RestoreDataAll and DeleteDataAll), version.",
  access: ({ namespace }, own) => commandAccess(namespace ?? own),
  readsProfile: true,
  step: ({ pods, ...given }, context) => {
    const names = podsOf(pods, context);
    if (E.isLeft(names)) return { type: "fail", message: names.left };
    const folders = names.right.map((pod) => ({
      ...given,
      pod,
      artifactPrefix: `${given.backupArtifactPrefix}/${pod}`,
    }));
    const done = backUpPods(context, folders, given);
    return "type" in done ? done : { type: "end", output: { BackupAllInfo: writeBackupInfo(done), version: "v0.0.0" } };
  },
};
