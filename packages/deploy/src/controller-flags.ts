import type { LeaderElectionProps } from "./leader-election.ts";
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

const flag = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [`--${name}=${value}`];

const seconds = (count: number | undefined): string | undefined => (count === undefined ? undefined : `${count}s`);

/** The command line of the controller. What is left to its default is not on it. */
export const controllerFlags = (props: ControllerFlagsProps): readonly string[] => {
  const { readiness, leaderElection = {}, metricsAuth, flags = [] } = props;
  return [
    ...flag("readiness", readiness),
    ...flag("leader-elect", leaderElection.enabled === undefined ? undefined : `${leaderElection.enabled}`),
    ...flag("leader-elect-resource-name", leaderElection.leaseName),
    ...flag("leader-elect-resource-namespace", leaderElection.leaseNamespace),
    ...flag("leader-elect-lease-duration", seconds(leaderElection.leaseDurationSeconds)),
    ...flag("leader-elect-renew-deadline", seconds(leaderElection.renewDeadlineSeconds)),
    ...flag("leader-elect-retry-period", seconds(leaderElection.retryPeriodSeconds)),
    ...flag("metrics-auth", metricsAuth === true ? "true" : undefined),
    ...flags,
  ];
};
