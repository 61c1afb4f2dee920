// Shares a number of slots fairly among groups.

/** The queue for a number of slots, by group. */
export interface FairTurns<A> {
  /** Queues behind the others of its group. */
  readonly join: (group: string, one: A) => void;
  /** Leaves the queue. */
  readonly quit: (group: string, one: A) => void;
  /** The next one, which has a slot from now on. Undefined: none may have one now. */
  readonly next: () => A | undefined;
  /** One of this group releases its slot. */
  readonly leave: (group: string) => void;
}

/**
 * A number of slots, shared among independent groups.
 *
 * A group gets a slot as long as it has fewer than are free: so one that never releases any has half of them at most, a second
 * such one half of the rest, and so on. (Dynamic thresholds, as switches share their buffers: Choudhury and Hahne, 1998.)
 *
 * Guarantees: never more slots than there are; no group ever has more than half of them, rounded up; groups take turns, so that a
 *             group that may have a slot gets one before any other gets two; a group without any slot may have each one that
 *             is free.
 *
 * @param mostOfGroup a group never has more, however many are free
 */
export const fairTurns = <A>(places: number, mostOfGroup = Number.POSITIVE_INFINITY): FairTurns<A> => {
  /** Groups in the order of their turns. */
  const waiting = new Map<string, Set<A>>();
  const taken = new Map<string, number>();
  let free = places;

  const takenBy = (group: string): number => taken.get(group) ?? 0;

  return {
    join: (group, one) => {
      const others = waiting.get(group);
      if (others === undefined) waiting.set(group, new Set([one]));
      else others.add(one);
    },
    quit: (group, one) => {
      const ones = waiting.get(group);
      ones?.delete(one);
      if (ones?.size === 0) waiting.delete(group);
    },
    next: () => {
      for (const [group, ones] of waiting) {
        if (takenBy(group) >= Math.min(free, mostOfGroup)) continue;
        const [one] = ones;
        ones.delete(one as A);
        waiting.delete(group);
        if (ones.size > 0) waiting.set(group, ones);
        taken.set(group, takenBy(group) + 1);
        free -= 1;
        return one;
      }
      return undefined;
    },
    leave: (group) => {
      free += 1;
      if (takenBy(group) === 1) taken.delete(group);
      else taken.set(group, takenBy(group) - 1);
    },
  };
};
