// The volumes of claims in a Pod: claims that are there, each at its path. A Pod with another one would wait for it.
import { asObject, isAbsent, type JsonObject, member, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { show } from "../names.ts";
import { type Access, inquiryOf, type PhaseContext, type PhaseStep } from "../phase-context.ts";
import { claims, get } from "../requests.ts";

export interface ClaimVolumes {
  readonly volumes: readonly JsonObject[];
  readonly mounts: readonly JsonObject[];
}

export const claimAccess = (namespace: string): Access => ({
  verb: "get",
  group: "",
  resource: "persistentvolumeclaims",
  namespace,
});

/** The claims of a Pod of the workload, and where it mounts each. */
export const claimsOfPod = (workload: JsonObject, pod: string): Readonly<Record<string, string>> =>
  asObject(member(asObject(workload["PersistentVolumeClaims"]), pod)) as Readonly<Record<string, string>>;

/**
 * Reads the claims. Those that may be mounted by readers only are mounted read-only.
 *
 * @param paths claims, and where each is mounted
 * @returns Left: what is to be done first, or why it cannot be done
 */
export const claimVolumes = (
  context: PhaseContext,
  namespace: string,
  paths: Readonly<Record<string, string>>,
): E.Either<PhaseStep, ClaimVolumes> => {
  const { ask, missing } = inquiryOf(context);
  const problems: string[] = [];
  const found = Object.entries(paths).map(([name, mountPath], at) => {
    const ref = { resource: claims, namespace, name };
    const answer = ask(get("read-claim", `claim/${name}`, ref, context.serviceAccount));
    if (answer !== undefined && E.isLeft(answer)) {
      const shown = `PersistentVolumeClaim ${show(ref)}`;
      problems.push(
        isAbsent(answer.left) ? `${shown} not found` : `${shown} cannot be read: ${messageOf(answer.left)}`,
      );
    }
    const modes = answer !== undefined && E.isRight(answer) ? asObject(answer.right["spec"])["accessModes"] : [];
    const readOnly = Array.isArray(modes) && modes.includes("ReadOnlyMany") ? { readOnly: true } : {};
    return {
      volume: { name: `vol-${at}`, persistentVolumeClaim: { claimName: name, ...readOnly } },
      mount: { name: `vol-${at}`, mountPath, ...readOnly },
    };
  });
  if (missing.length > 0) return E.left({ type: "run", effects: missing });
  return problems.length > 0
    ? E.left({ type: "fail", message: problems.join("; ") })
    : E.right({ volumes: found.map(({ volume }) => volume), mounts: found.map(({ mount }) => mount) });
};
