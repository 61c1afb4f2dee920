/** Durations in ms. */
export interface LeaderTiming {
  /** Others leave a leader alone for so long after they last saw it renew. Written in whole seconds, rounded up. */
  readonly leaseDuration: number;
  /** A leader that could not renew for so long, counted from the sending of its last renewal, stops. */
  readonly renewDeadline: number;
  /** Between two renewals, and between two looks of a standby; up to a fifth less. */
  readonly retryPeriod: number;
  /** After this time the API server gives up a write, and a call for the Lease counts as failed. */
  readonly writeTimeout: number;
}

const seconds = (ms: number): string => `${ms / 1000} s`;

/**
 * Why these durations cannot keep two leaders apart; undefined where they can.
 *
 * What a leader sends in the last moment before its renew deadline, the API server may still work on for the write timeout.
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
