// Computes the pause after repeated failures, with jitter.

/** The pause after failures, doubled with each, in ms. */
export interface Backoff {
  readonly first: number;
  readonly cap: number;
}

/**
 * The pause after the `failures`th failure in a row: between half of the doubled time and all of it, so that keys that failed
 * together are not retried together.
 *
 * @param random from 0 to 1
 */
export const delayAfter = (failures: number, { first, cap }: Backoff, random: number): number =>
  Math.min(cap, first * 2 ** Math.min(failures - 1, 30)) * (0.5 + random / 2);
