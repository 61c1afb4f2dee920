import type { LeaderElectionProps } from "./leader-election.ts";

/**
 * Which Pods of the controller are ready.
 *
 * - `any`: all that work. The leader marks its own Pod with a label, by which the Service finds it. Rolling updates, drains and
 *   whoever waits for the Deployment to be available come to their end.
 * - `leader`: the leader alone. With more than one replica the Deployment is then never wholly available: `kubectl rollout status`,
 *   `helm install --wait` and Argo CD wait for ever. Updates and drains still come to their end, because nothing makes them wait for
 *   ready Pods: no PodDisruptionBudget, and a rolling update that may take all Pods down at once.
 */
export type Readiness = "any" | "leader";

export interface ReadinessProps {
  /**
   * Which Pods of the controller are ready.
   * @default "any"
   */
  readonly readiness?: Readiness;
}

/** Whether the leader marks its own Pod, because being ready does not tell it from the others. */
export const marksLeader = ({ readiness, leaderElection }: ReadinessProps & LeaderElectionProps): boolean =>
  readiness !== "leader" && leaderElection?.enabled !== false;
