// The largest int32, and the longest timer of Node.

/** The maximum of Kubernetes' int32 fields, and of the delay of a timer in Node, in ms. */
export const MAX_INT32 = 2 ** 31 - 1;

/** The longest timer of Node, in seconds. */
export const LONGEST_TIMER = Math.floor(MAX_INT32 / 1000);
