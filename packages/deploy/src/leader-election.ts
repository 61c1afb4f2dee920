// The settings of leader election, and their defaults.
import { LEADER_ELECTION, LEADER_LEASE, SYSTEM_NAMESPACE } from "@janus/api";
import type { NamespacedProps } from "./namespaced.ts";

export interface LeaderElection {
  /**
   * Whether the controllers elect a leader. Otherwise there can be one replica only, and writes are not fenced.
   * @default true
   */
  readonly enabled?: boolean;
  /**
   * Name of the leader's Lease.
   * @default "janus-controller-leader"
   */
  readonly leaseName?: string;
  /**
   * Namespace of the leader's Lease.
   * @default the controller's
   */
  readonly leaseNamespace?: string;
  /**
   * How long non-leaders wait after the last observed renewal before acquiring leadership, in seconds.
   * @default 30
   */
  readonly leaseDurationSeconds?: number;
  /**
   * How long the leader tries to renew before it gives up leadership, in seconds. Together with the write timeout (5 s) no longer
   * than the lease duration.
   * @default 20
   */
  readonly renewDeadlineSeconds?: number;
  /**
   * Seconds between two attempts to acquire or renew leadership. Shorter than the renew deadline.
   * @default 5
   */
  readonly retryPeriodSeconds?: number;
}

export interface LeaderElectionProps {
  /**
   * The leader election.
   * @default the Lease "janus-controller-leader" in the controller's namespace, 30 s / 20 s / 5 s
   */
  readonly leaderElection?: LeaderElection;
}

/** The defaults, except for the namespace, which is the controller's. */
export const leaderElectionDefaults = {
  enabled: true,
  leaseName: LEADER_LEASE,
  leaseDurationSeconds: LEADER_ELECTION.leaseDuration,
  renewDeadlineSeconds: LEADER_ELECTION.renewDeadline,
  retryPeriodSeconds: LEADER_ELECTION.retryPeriod,
} as const satisfies LeaderElection;

/** The leader election, with all settings. */
export const leaderElectionOf = ({
  leaderElection,
  namespace = SYSTEM_NAMESPACE,
}: LeaderElectionProps & NamespacedProps): Required<LeaderElection> => ({
  ...leaderElectionDefaults,
  leaseNamespace: namespace,
  ...leaderElection,
});
