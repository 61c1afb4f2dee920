// CopyVolumeData: backs up the volume of a claim with restic.
import type { Args, ArgTable } from "../args.ts";
import { tagOf } from "../data/restic-commands.ts";
import { readBackup } from "../data/restic-output.ts";
import { IMAGE_ARG, RESTIC_ARGS, resticAccess, type ResticPod, runRestic, stopRestic } from "../data/restic-pod.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";
import { claimAccess } from "../pods/claim-volumes.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Of the claim; the Pod runs there." },
  volume: { type: "text", isRequired: true, about: "The PersistentVolumeClaim." },
  dataArtifactPrefix: { type: "text", isRequired: true, about: "The path of the repository in the bucket." },
  mountPath: { type: "text", about: "Where the Pod has the volume. Default: /mnt/vol_data/<claim>." },
  ...IMAGE_ARG,
  ...RESTIC_ARGS,
} as const satisfies ArgTable;

type Given = Args<typeof args>;

const rootOf = ({ mountPath = "", volume }: Given): string =>
  mountPath === "" ? `/mnt/vol_data/${volume}` : mountPath;

const podOf = (given: Given, context: PhaseContext): ResticPod => ({
  ...given,
  prefix: "copy-vol-data-",
  artifactPrefix: given.dataArtifactPrefix,
  claims: { [given.volume]: rootOf(given) },
  command: { script: "backup", words: [tagOf(context), rootOf(given)] },
});

export const copyVolumeData: KanisterFunction<typeof args> = {
  about: "Backs up the volume of a PersistentVolumeClaim with restic, in a Pod of its own.",
  args,
  outputs:
    "backupID, backupTag, backupRoot (the path), backupArtifactLocation (the repository), fileCount, size, phySize, version.",
  access: ({ namespace }, own) => [...resticAccess(namespace ?? own), claimAccess(namespace ?? own)],
  readsProfile: true,
  step: (given, context) =>
    runRestic(context, podOf(given, context), (lines) => {
      const backup = readBackup(lines);
      return (
        backup && {
          ...backup,
          backupTag: tagOf(context),
          backupRoot: rootOf(given),
          backupArtifactLocation: given.dataArtifactPrefix,
          version: "v0.0.0",
        }
      );
    }),
  stop: (given, context) => stopRestic(context, podOf(given, context)),
};
