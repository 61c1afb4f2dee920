// Remembers for a while which watches a user may not have.
import { elapsed } from "../process/clock.ts";

/** For this time no watch is tried again that the user may not have, in ms. */
const DENIED_FOR = 300_000;
/** The names of so many are remembered at most: what authors may have denied is not limited. */
const MOST_DENIED = 1000;

export interface DeniedWatches {
  readonly add: (key: string) => void;
  readonly has: (key: string) => boolean;
  readonly size: () => number;
}

/**
 * The watches that were denied a short time ago.
 *
 * Guarantees: none is remembered for longer, and of too many the latest: any other is tried again, which is one more request.
 */
export const deniedWatches = (now: () => number = elapsed): DeniedWatches => {
  /** The time until which each is denied, in this order. */
  const denied = new Map<string, number>();
  const forgetOld = (): void => {
    for (const [key, until] of denied) {
      if (denied.size <= MOST_DENIED && until > now()) return;
      denied.delete(key);
    }
  };
  return {
    add: (key) => {
      denied.delete(key);
      denied.set(key, now() + DENIED_FOR);
      forgetOld();
    },
    has: (key) => {
      forgetOld();
      return denied.has(key);
    },
    size: () => denied.size,
  };
};
