// The type Instant, and the time format of Kubernetes metadata and conditions.
// oxlint-disable no-restricted-globals -- Date is used as arithmetic on its argument here, never as a clock

/**
 * A point in time in ms since the epoch, from a clock that is never set while this process works on a
 * Transaction.
 */
export type Instant = number;

/** RFC 3339 in seconds, the form of `metadata.creationTimestamp` and of condition times. */
export const toTimestamp = (at: Instant): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** `undefined` if it is not a timestamp. */
export const fromTimestamp = (text: string | undefined): Instant | undefined => {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
};
