import { type LeaderElection, leaderElectionOf, type LeaderElectionProps } from "./leader-election.ts";
import type { NamespacedProps } from "./namespaced.ts";
import type { ReadinessProps } from "./readiness.ts";

export interface ControllerFlagsProps extends LeaderElectionProps, ReadinessProps {
  /**
   * Whether `/metrics` answers only those who may `get` it, by the token that they bring.
   * @default false
   */
  readonly metricsAuth?: boolean;
  /**
   * More flags of the controller, such as `--log-level=debug`; `janus-controller --help` has all.
   * @default none
   */
  readonly flags?: readonly string[];
}

/** The write timeout of the controller, in seconds, unless a flag says another one. */
const writeTimeout = 5;

/** Durations with which two could lead at the same time: refused here, and not only when the controller starts. */
const refuseTiming = (election: Required<LeaderElection>, flags: readonly string[]): void => {
  const { leaseDurationSeconds: duration, renewDeadlineSeconds: deadline, retryPeriodSeconds: period } = election;
  const write = flags.some((flag) => flag.startsWith("--write-timeout")) ? 1 : writeTimeout;
  if (period >= deadline)
    throw new Error(
      `leaderElection.retryPeriodSeconds (${period}) must be less than renewDeadlineSeconds (${deadline})`,
    );
  if (deadline + write > duration)
    throw new Error(
      `leaderElection.leaseDurationSeconds (${duration}) must be at least renewDeadlineSeconds (${deadline}) and ${write} s more, the time of a write`,
    );
};

/**
 * The command line of the controller. What has to agree with other objects, such as the Service and the fence, is on it, whatever
 * the defaults of the image are.
 *
 * Throws: where two could lead at the same time.
 */
export const controllerFlags = (props: ControllerFlagsProps & NamespacedProps): readonly string[] => {
  const { readiness = "any", metricsAuth, flags = [] } = props;
  const election = leaderElectionOf(props);
  if (election.enabled) refuseTiming(election, flags);
  return [
    `--readiness=${readiness}`,
    `--leader-elect=${election.enabled}`,
    ...(election.enabled
      ? [
          `--leader-elect-resource-name=${election.leaseName}`,
          `--leader-elect-resource-namespace=${election.leaseNamespace}`,
          `--leader-elect-lease-duration=${election.leaseDurationSeconds}s`,
          `--leader-elect-renew-deadline=${election.renewDeadlineSeconds}s`,
          `--leader-elect-retry-period=${election.retryPeriodSeconds}s`,
        ]
      : []),
    ...(metricsAuth === true ? ["--metrics-auth=true"] : []),
    ...flags,
  ];
};
