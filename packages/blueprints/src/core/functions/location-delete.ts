// LocationDelete: deletes an artifact from the storage of the Profile.
import * as E from "fp-ts/lib/Either.js";
import type { Args, ArgTable } from "../args.ts";
import { backupLocation, kandoProfile } from "../data/backup-location.ts";
import { resticAccess } from "../data/restic-pod.ts";
import type { KanisterFunction, PhaseContext } from "../phase-context.ts";
import { CONTAINER, type JobPod } from "../pods/job-pod.ts";
import { runPod, stopPod } from "../pods/run-pod.ts";
import { plain } from "../text.ts";

const args = {
  artifact: { type: "text", isRequired: true, about: "The path of the artifact, with or without its bucket." },
} as const satisfies ArgTable;

const SCRIPT = 'exec kando location delete --profile "$KANDO_PROFILE" --path "$1"';

const podOf = ({ artifact }: Args<typeof args>, { actionSet, settings }: PhaseContext, bucket: string): JobPod => {
  const path = bucket !== "" && artifact.startsWith(bucket) ? artifact.slice(bucket.length) : artifact;
  return {
    prefix: "location-delete-",
    namespace: actionSet.metadata.namespace,
    containers: [
      {
        name: CONTAINER,
        image: settings.toolsImage,
        command: ["sh", "-c", SCRIPT, "sh", path].map((word) => plain(word.replaceAll("$", "$$$$"))),
      },
    ],
  };
};

export const locationDelete: KanisterFunction<typeof args> = {
  about: "Deletes an artifact from the storage of the Profile with kando, in a Pod of its own.",
  args,
  outputs: "None.",
  access: (_, own) => resticAccess(own),
  readsProfile: true,
  step: (given, context) => {
    const place = backupLocation(context);
    if (E.isLeft(place)) return place.left;
    const profile = kandoProfile(place.right);
    if (E.isLeft(profile)) return { type: "fail", message: profile.left };
    const pod = podOf(given, context, place.right.location.bucket ?? "");
    const step = runPod(context, { ...pod, secretEnv: { KANDO_PROFILE: profile.right } });
    return step.type === "end" ? { ...step, output: {} } : step;
  },
  stop: (given, context) => stopPod(context, podOf(given, context, "")),
};
