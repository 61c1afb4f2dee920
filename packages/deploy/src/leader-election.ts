import { defaultNamespace, leaderLease } from "./defaults.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface LeaderElection {
  /**
   * Whether one of several controllers leads. Without it there can be one replica only, and nothing is fenced.
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
   * For how many seconds the others leave a leader alone that they do not see renew.
   * @default 30
   */
  readonly leaseDurationSeconds?: number;
  /**
   * A leader that could not renew for so many seconds stops. Together with the write timeout (5 s) no longer than the lease duration.
   * @default 20
   */
  readonly renewDeadlineSeconds?: number;
  /**
   * Seconds between two renewals, and between two looks of a standby. Shorter than the renew deadline.
   * @default 5
   */
  readonly retryPeriodSeconds?: number;
}

export interface LeaderElectionProps {
  /**
   * How one of several controllers becomes the leader.
   * @default the Lease "janus-controller-leader" in the controller's namespace, 30 s / 20 s / 5 s
   */
  readonly leaderElection?: LeaderElection;
}

/** What holds where nothing is said, but for the namespace, which is the controller's. */
export const leaderElectionDefaults = {
  enabled: true,
  leaseName: leaderLease,
  leaseDurationSeconds: 30,
  renewDeadlineSeconds: 20,
  retryPeriodSeconds: 5,
} as const satisfies LeaderElection;

/** How the leader is elected, to the last setting. */
export const leaderElectionOf = ({
  leaderElection,
  namespace = defaultNamespace,
}: LeaderElectionProps & NamespacedProps): Required<LeaderElection> => ({
  ...leaderElectionDefaults,
  leaseNamespace: namespace,
  ...leaderElection,
});
