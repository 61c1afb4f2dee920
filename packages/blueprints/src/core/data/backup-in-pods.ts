// Backs up a folder of each of several Pods that are there, with the restic of one of its containers, side by side.
import * as E from "fp-ts/lib/Either.js";
import type { ArgTable } from "../args.ts";
import { failureOfCommand, type PlacedCommand, runCommands } from "../exec/run-commands.ts";
import type { PhaseContext, PhaseStep } from "../phase-context.ts";
import { plain, type Text } from "../text.ts";
import { backupLocation } from "./backup-location.ts";
import { resticWords, tagOf } from "./restic-commands.ts";
import { type Backup, readBackup } from "./restic-output.ts";
import { REPOSITORY_ARGS } from "./restic-pod.ts";
import { resticEnv } from "./restic-repository.ts";

/** Arguments of functions that back up folders of Pods. */
export const FOLDER_ARGS = {
  namespace: { type: "text", isRequired: true, about: "Where the Pod is." },
  container: { type: "text", isRequired: true, about: "The container, with restic and sh." },
  includePath: { type: "text", isRequired: true, about: "The folder or file there." },
  backupArtifactPrefix: { type: "text", isRequired: true, about: "The path of the repository in the bucket." },
  ...REPOSITORY_ARGS,
} as const satisfies ArgTable;

export interface PodFolder {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly includePath: string;
  /** The path of the repository, below the bucket. */
  readonly artifactPrefix: string;
}

export interface PodBackup {
  readonly pod: string;
  readonly tag: string;
  readonly backup: Backup;
}

/**
 * Guarantees: one backup of each folder is left, whatever crashes, is lost or is tried again; no credential is in a URL or a list of
 *             processes.
 * Errors:     restic fails in one of them; a container is not there, or has no sh.
 *
 * @returns what is next, or all backups in the order of the folders
 */
export const backUpPods = (
  context: PhaseContext,
  folders: readonly PodFolder[],
  { encryptionKey, insecureTLS = false }: { readonly encryptionKey?: Text; readonly insecureTLS?: boolean },
): PhaseStep | readonly PodBackup[] => {
  const place = backupLocation(context);
  if (E.isLeft(place)) return place.left;
  const insecureTls = insecureTLS || place.right.skipSSLVerify;
  const commands = E.traverseArray(({ includePath, artifactPrefix, ...where }: PodFolder) =>
    E.map((secretEnv: PlacedCommand["secretEnv"] & object): PlacedCommand => {
      const words = [tagOf(context, where.pod), includePath];
      return { ...where, words: resticWords({ script: "backup", words, insecureTls }).map(plain), secretEnv };
    })(resticEnv(place.right, artifactPrefix, encryptionKey)),
  )(folders);
  if (E.isLeft(commands)) return { type: "fail", message: commands.left };
  // A backup that has been made is found by its tag.
  const ended = runCommands({ ...context, mayRerun: true }, commands.right);
  if ("type" in ended) return ended;
  const results = folders.map(({ pod }, at) => {
    const one = ended[at];
    const failure = one && failureOfCommand(one);
    const { tail = [] } = one?.outcome.stdout ?? {};
    const backup = readBackup(tail);
    const problem = failure ?? `${one?.place ?? pod}: restic ended without a backup; last lines: ${tail.join("\n")}`;
    return failure === undefined && backup !== undefined
      ? E.right({ pod, tag: tagOf(context, pod), backup })
      : E.left(problem);
  });
  const problems = results.flatMap((one) => (E.isLeft(one) ? [one.left] : []));
  return problems.length > 0
    ? { type: "fail", message: problems.join("; ") }
    : results.flatMap((one) => (E.isRight(one) ? [one.right] : []));
};
