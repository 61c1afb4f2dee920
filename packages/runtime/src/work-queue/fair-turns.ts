// Shares a number of slots fairly among groups.

/** The queue for a number of slots, by group. */
export interface FairTurns<A> {
  /** Queues behind the others of its group. */
  readonly join: (group: string, one: A) => void;
  /** Leaves the queue. */
  readonly quit: (group: string, one: A) => void;
  /** The next one, which has a slot from now on. Undefined: none may have one now. */
  readonly next: () => A | undefined;
  /** Releases its slot. */
  readonly leave: (one: A) => void;
}

/** Of all that share something, such as a server, so many have a slot at most, whatever group they are of. */
export interface Shared<A> {
  readonly of: (one: A) => string;
  readonly most: number;
}

const count = (counts: Map<string, number>, of: string | undefined, by: 1 | -1): void => {
  if (of === undefined) return;
  const now = (counts.get(of) ?? 0) + by;
  if (now === 0) counts.delete(of);
  else counts.set(of, now);
};

/**
 * A number of slots, shared among independent groups.
 *
 * A group gets a slot as long as it has fewer than are free: so one that never releases any has half of them at most, a second
 * such one half of the rest, and so on. (Dynamic thresholds, as switches share their buffers: Choudhury and Hahne, 1998.)
 *
 * Guarantees: never more slots than there are; no group ever has more than half of them, rounded up; groups take turns, so that a
 *             group that may have a slot gets one before any other gets two; a group without any slot may have each one that
 *             is free. Who waits because of what it shares keeps no other of its group waiting.
 */
export const fairTurns = <A>(places: number, shared?: Shared<A>): FairTurns<A> => {
  /** Groups in the order of their turns. */
  const waiting = new Map<string, Set<A>>();
  /** Those that have a slot, with what was true of them when they got it. */
  const holders = new Map<A, { readonly group: string; readonly share: string | undefined }>();
  const taken = new Map<string, number>();
  const sharing = new Map<string, number>();

  const hasRoom = (one: A): boolean => shared === undefined || (sharing.get(shared.of(one)) ?? 0) < shared.most;

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
        if ((taken.get(group) ?? 0) >= places - holders.size) continue;
        for (const one of ones) {
          if (!hasRoom(one)) continue;
          ones.delete(one);
          waiting.delete(group);
          if (ones.size > 0) waiting.set(group, ones);
          const share = shared?.of(one);
          holders.set(one, { group, share });
          count(taken, group, 1);
          count(sharing, share, 1);
          return one;
        }
      }
      return undefined;
    },
    leave: (one) => {
      const held = holders.get(one);
      if (held === undefined) return;
      holders.delete(one);
      count(taken, held.group, -1);
      count(sharing, held.share, -1);
    },
  };
};
