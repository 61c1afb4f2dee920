// CheckRepository: tells whether the repository of backups can be read with the password.
import type { Args, ArgTable } from "../args.ts";
import { IMAGE_ARG, RESTIC_ARGS, resticAccess, type ResticPod, runRestic, stopRestic } from "../data/restic-pod.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";

const args = {
  backupArtifactPrefix: { type: "text", isRequired: true, about: "The path of the repository in the bucket." },
  ...IMAGE_ARG,
  ...RESTIC_ARGS,
} as const satisfies ArgTable;

const podOf = (given: Args<typeof args>, { actionSet }: PhaseContext): ResticPod => ({
  ...given,
  prefix: "check-repository-",
  namespace: actionSet.metadata.namespace,
  artifactPrefix: given.backupArtifactPrefix,
  command: { script: "check", words: [] },
});

export const checkRepository: KanisterFunction<typeof args> = {
  about: "Tells whether the repository of backups is there, and the password is right, in a Pod of its own.",
  args,
  outputs: "passwordIncorrect, repoUnavailable (each true or false), version.",
  access: (_, own) => resticAccess(own),
  readsProfile: true,
  step: (given, context) =>
    runRestic(context, podOf(given, context), (lines) => ({
      passwordIncorrect: `${lines.includes("passwordIncorrect")}`,
      repoUnavailable: `${lines.includes("repoUnavailable")}`,
      version: "v0.0.0",
    })),
  stop: (given, context) => stopRestic(context, podOf(given, context)),
};
