// Decides whether the process is ready, by readiness mode and leadership.
import type { ControllerNames } from "./controller-names.ts";

/** leader: only the leader is ready. any: a standby that could take over at once is ready, too. */
export const READINESS = ["any", "leader"] as const;
export type Readiness = (typeof READINESS)[number];

export interface Standing {
  readonly stopping: boolean;
  readonly leads: boolean;
  /** Whether all objects were listed; undefined for a standby, which does not watch them. */
  readonly synced: boolean | undefined;
  /** Whether the leader's Lease was read, and the leader label of the own Pod was set or removed. */
  readonly standsBy: boolean;
}

/** Why the process is not ready; undefined when it is. */
export const unready = (
  mode: Readiness,
  { stopping, leads, synced, standsBy }: Standing,
  { objects }: ControllerNames,
): string | undefined => {
  if (stopping) return "stopping";
  if (synced === false) return `not all ${objects} are listed yet`;
  if (mode === "leader") return leads && synced === true ? undefined : "this controller is not the leader";
  return standsBy ? undefined : "the leader's Lease has not been read yet";
};
