// The Pods that an argument names: words, as Kanister has them; without one, those of the object of the action.
import * as E from "fp-ts/lib/Either.js";
import type { ArgTable } from "../args.ts";
import type { PhaseContext } from "../phase-context.ts";

export const PODS_ARG = {
  pods: {
    type: "text",
    about: "Names of Pods, with spaces between them. Default: the running ones of the Deployment or StatefulSet.",
  },
} as const satisfies ArgTable;

/** The most at a time: each takes a connection. */
export const MOST_PODS = 100;

export const namesIn = (text: string): readonly string[] => text.split(/\s+/u).filter((name) => name !== "");

/** Returns the Pods that an argument names, else the running ones of the workload. Left: why there are none. */
export const podsOf = (
  named: string | undefined,
  { workload }: Pick<PhaseContext, "workload">,
): E.Either<string, readonly string[]> => {
  const names = namesIn(named ?? "");
  const pods = names.length > 0 ? [...new Set(names)] : ((workload["Pods"] ?? []) as readonly string[]);
  if (pods.length === 0)
    return E.left(
      "there are no Pods: args.pods names none, and the object is no Deployment or StatefulSet with running Pods",
    );
  return pods.length > MOST_PODS ? E.left(`${pods.length} Pods, ${MOST_PODS} are the most`) : E.right(pods);
};
