// The readiness mode of the controller, and its consequences for the leader label.
import type { LeaderElectionProps } from "./leader-election.ts";

/**
 * Which Pods of the controller are ready.
 *
 * - `any`: all that work. The leader sets a label on its own Pod, which the Service selects. Rolling updates and drains complete,
 *   and the Deployment becomes available.
 * - `leader`: the leader alone. With more than one replica the Deployment never becomes fully available: `kubectl rollout status`,
 *   `helm install --wait` and Argo CD never return. Updates and drains still complete, because they do not wait for ready Pods:
 *   there is no PodDisruptionBudget, and a rolling update may replace all Pods at once.
 */
export type Readiness = "any" | "leader";

export interface ReadinessProps {
  /**
   * Which Pods of the controller are ready.
   * @default "any"
   */
  readonly readiness?: Readiness;
}

/** Whether the leader labels its own Pod, because readiness does not distinguish it from the others. */
export const marksLeader = ({ readiness, leaderElection }: ReadinessProps & LeaderElectionProps): boolean =>
  readiness !== "leader" && leaderElection?.enabled !== false;
