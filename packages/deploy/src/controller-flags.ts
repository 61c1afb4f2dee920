// Turns props into command-line flags of the controller, and refuses those that other objects depend on.
import { WRITE_TIMEOUT } from "@janus/api";
import { LONGEST_TIMER, MAX_INT32 } from "@janus/types";
import { type LeaderElection, leaderElectionOf, type LeaderElectionProps } from "./leader-election.ts";
import { httpPort } from "./defaults.ts";
import type { NamespacedProps } from "./namespaced.ts";
import type { ReadinessProps } from "./readiness.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export const defaultLogLevel: LogLevel = "info";

export interface ControllerFlagsProps extends LeaderElectionProps, ReadinessProps {
  /**
   * Require authentication and authorization for `/metrics`.
   * @default false
   */
  readonly metricsAuth?: boolean;
  /**
   * Kinds whose values the render of a Draft does not show, besides Secrets: `Kind.group`, or `Kind` in the core group.
   * @default none
   */
  readonly sensitiveKinds?: readonly string[];
  /**
   * Seconds after which finished Transactions are deleted that have no `ttlSecondsAfterFinished`.
   * @default - they are kept
   */
  readonly defaultTtlSecondsAfterFinished?: number;
  /**
   * What the controller logs: with `debug` each request, with `warn` and `error` only what needs attention.
   * @default "info"
   */
  readonly logLevel?: LogLevel;
  /**
   * More flags of the controller, such as `--max-concurrent-reconciles=32`; `janus-controller --help` lists all. Flags
   * that other props set, or on which other objects rely, are rejected.
   * @default none
   */
  readonly flags?: readonly string[];
}

/** Flags that must agree with other objects, and what to set instead. If a flag is given twice, the last one wins. */
export const refusedFlags: Readonly<Record<string, string>> = {
  "--leader-elect": "set leaderElection.enabled instead",
  "--leader-elect-lease-duration": "set leaderElection.leaseDurationSeconds instead",
  "--leader-elect-renew-deadline": "set leaderElection.renewDeadlineSeconds instead",
  "--leader-elect-retry-period": "set leaderElection.retryPeriodSeconds instead",
  "--leader-elect-resource-name": "set leaderElection.leaseName instead",
  "--leader-elect-resource-namespace": "set leaderElection.leaseNamespace instead",
  "--readiness": "set readiness instead",
  "--metrics-auth": "set metricsAuth instead",
  "--default-ttl-seconds-after-finished": "set defaultTtlSecondsAfterFinished instead",
  "--sensitive-kinds": "set sensitiveKinds instead",
  "--namespace": "it is always the namespace of the Pod",
  "--http-port": `it is always ${httpPort}, which the Service and the probes expect`,
};

const refuseFlags = (flags: readonly string[]): void => {
  for (const flag of flags) {
    const [name = ""] = flag.split("=");
    const instead = refusedFlags[name];
    if (instead !== undefined) throw new Error(`flags: ${name} cannot be given here: ${instead}`);
  }
};

/** The longest timer of Node. The int32 of a Lease allows more. */
export const longestLeaseDuration = LONGEST_TIMER;

/** As many seconds as the controller takes. */
export const longestTtl = MAX_INT32;

/** Rejects durations with which two could lead at the same time, before the controller starts. */
const refuseTiming = (election: Required<LeaderElection>, flags: readonly string[]): void => {
  const { leaseDurationSeconds: duration, renewDeadlineSeconds: deadline, retryPeriodSeconds: period } = election;
  const write = flags.some((flag) => flag.startsWith("--write-timeout")) ? 1 : WRITE_TIMEOUT;
  if (period >= deadline)
    throw new Error(
      `leaderElection.retryPeriodSeconds (${period}) must be less than renewDeadlineSeconds (${deadline})`,
    );
  if (duration > longestLeaseDuration)
    throw new Error(`leaderElection.leaseDurationSeconds (${duration}) can be ${longestLeaseDuration} at most`);
  if (deadline + write > duration)
    throw new Error(
      `leaderElection.leaseDurationSeconds (${duration}) must be at least renewDeadlineSeconds (${deadline}) and ${write} s more, the time of a write`,
    );
};

/**
 * The command line of the controller. It sets what must agree with other objects, such as the Service and the fence, whatever the
 * defaults of the image are.
 *
 * Throws: if two could lead at the same time, or if `flags` has one that is rejected.
 */
export const controllerFlags = (props: ControllerFlagsProps & NamespacedProps): readonly string[] => {
  const {
    defaultTtlSecondsAfterFinished: ttl,
    readiness = "any",
    metricsAuth,
    sensitiveKinds = [],
    logLevel = defaultLogLevel,
    flags = [],
  } = props;
  const election = leaderElectionOf(props);
  refuseFlags(flags);
  if (election.enabled) refuseTiming(election, flags);
  if (ttl !== undefined && !(Number.isInteger(ttl) && ttl >= 0 && ttl <= longestTtl))
    throw new Error(`defaultTtlSecondsAfterFinished (${ttl}) must be a whole number from 0 to ${longestTtl}`);
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
    ...(ttl === undefined ? [] : [`--default-ttl-seconds-after-finished=${ttl}`]),
    ...(sensitiveKinds.length === 0 ? [] : [`--sensitive-kinds=${sensitiveKinds.join(",")}`]),
    ...(logLevel === defaultLogLevel ? [] : [`--log-level=${logLevel}`]),
    ...flags,
  ];
};
