/** Chance that comes out the same for the same seed, as long as it is asked in the same order. */
export interface Random {
  /** From 0 up to, and without, `end`. */
  readonly below: (end: number) => number;
  readonly chance: (share: number) => boolean;
  readonly pick: <A>(list: readonly A[]) => A;
  /** A random source of its own, that does not depend on what else is asked of this one later. */
  readonly fork: () => Random;
}

/** The generator mulberry32. */
export const random = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => next() * end;
  return {
    below,
    chance: (share) => next() < share,
    pick: <A>(list: readonly A[]): A => {
      const picked = list[Math.floor(below(list.length))];
      if (picked === undefined) throw new Error("nothing to pick from");
      return picked;
    },
    fork: () => random(Math.floor(below(2 ** 32))),
  };
};
