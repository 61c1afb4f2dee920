// DeleteData: deletes a backup that restic has made.
import { isGiven } from "../../api/object-reference.ts";
import type { Args, ArgTable } from "../args.ts";
import { freedBytes } from "../data/restic-output.ts";
import { IMAGE_ARG, RESTIC_ARGS, resticAccess, type ResticPod, runRestic, stopRestic } from "../data/restic-pod.ts";
import type { KanisterFunction } from "../phase-context.ts";

const args = {
  namespace: { type: "text", isRequired: true, about: "Where the Pod runs." },
  backupArtifactPrefix: { type: "text", isRequired: true, about: "The path of the repository in the bucket." },
  backupID: { type: "text", about: "The backup. Either this, or backupTag." },
  backupTag: { type: "text", about: "The tag of the backups." },
  reclaimSpace: { type: "boolean", about: "Whether the space is freed at once, which takes long. Default: false." },
  ...IMAGE_ARG,
  ...RESTIC_ARGS,
} as const satisfies ArgTable;

type Given = Args<typeof args>;

const podOf = (given: Given): ResticPod => ({
  ...given,
  prefix: "delete-data-",
  artifactPrefix: given.backupArtifactPrefix,
  command: {
    script: isGiven(given.backupTag) ? "forgetByTag" : "forgetById",
    words: [(isGiven(given.backupTag) ? given.backupTag : given.backupID) ?? ""],
    prunes: given.reclaimSpace === true,
  },
});

export const deleteData: KanisterFunction<typeof args> = {
  about: "Deletes a backup of restic, in a Pod of its own. One that is not there is as good as deleted.",
  args,
  outputs: "spaceFreed: in bytes, such as `1024 B`.",
  access: ({ namespace }, own) => resticAccess(namespace ?? own),
  readsProfile: true,
  step: (given, context) =>
    isGiven(given.backupID) === isGiven(given.backupTag)
      ? { type: "fail", message: "either args.backupID or args.backupTag is required, not both" }
      : runRestic(context, podOf(given), (lines) => ({ spaceFreed: `${freedBytes(lines)} B` })),
  stop: (given, context) => stopRestic(context, podOf(given)),
};
