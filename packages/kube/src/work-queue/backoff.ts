/** How long to wait after failures: doubled with each, in ms. */
export interface Backoff {
  readonly first: number;
  readonly cap: number;
}

/**
 * The wait after the `failures`th failure in a row: between half of the doubled time and all of it, so that many who
 * failed together do not come back together.
 *
 * @param random from 0 to 1
 */
export const delayAfter = (failures: number, { first, cap }: Backoff, random: number): number =>
  Math.min(cap, first * 2 ** Math.min(failures - 1, 30)) * (0.5 + random / 2);
