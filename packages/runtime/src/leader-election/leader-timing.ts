// The timing of leader election, and its validation.

/** Durations in ms. */
export interface LeaderTiming {
  /** How long others wait after the last observed renewal before they acquire the Lease. Written in whole seconds, rounded up. */
  readonly leaseDuration: number;
  /** How long a leader tries to renew, counted from the sending of its last renewal, before it stops. */
  readonly renewDeadline: number;
  /** The time between two renewals, and between two reads of a standby; up to a fifth less. */
  readonly retryPeriod: number;
  /** After this time the API server aborts a write, and a request for the Lease counts as failed. */
  readonly writeTimeout: number;
}

/**
 * How long a candidate pauses between two renewals, or two reads of a standby: with jitter, so that candidates that failed
 * together do not retry together.
 *
 * @param random from 0 to 1
 */
export const retryPause = ({ retryPeriod }: LeaderTiming, random: number): number => retryPeriod * (1 - random / 5);

const seconds = (ms: number): string => `${ms / 1000} s`;

/**
 * Why two controllers could lead at the same time with these durations; undefined if they cannot.
 *
 * The API server may still process what a leader sends right before its renew deadline, for the write timeout.
 */
export const timingProblem = (timing: LeaderTiming): string | undefined => {
  const { leaseDuration, renewDeadline, retryPeriod, writeTimeout } = timing;
  if (retryPeriod >= renewDeadline)
    return `the retry period (${seconds(retryPeriod)}) must be shorter than the renew deadline (${seconds(renewDeadline)})`;
  if (renewDeadline >= leaseDuration)
    return `the renew deadline (${seconds(renewDeadline)}) must be shorter than the lease duration (${seconds(leaseDuration)})`;
  if (renewDeadline + writeTimeout > leaseDuration)
    return `the renew deadline (${seconds(renewDeadline)}) and the write timeout (${seconds(writeTimeout)}) must together be no longer than the lease duration (${seconds(leaseDuration)})`;
  return undefined;
};
