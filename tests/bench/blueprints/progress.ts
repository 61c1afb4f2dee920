// How far an ActionSet is, as its users see it.
import type { KubeObject } from "@janus/kube";

interface Status {
  readonly state?: string;
  readonly error?: { readonly message: string };
  readonly progress?: { readonly runningPhase?: string };
}

const statusOf = (object: KubeObject): Status => object["status"] ?? {};

/** Throws where it has failed: nothing is to be measured then. */
export const isComplete = (object: KubeObject): boolean => {
  const { state, error } = statusOf(object);
  if (state === "failed") throw new Error(error?.message);
  return state === "complete" && (object.metadata.finalizers ?? []).length === 0;
};

export const isRunning =
  (phase: string) =>
  (object: KubeObject): boolean =>
    statusOf(object).progress?.runningPhase === phase;
