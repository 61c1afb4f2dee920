import { fairTurns } from "@janus/kube";
import { elapsed } from "../process/clock.ts";

/** For so long nobody in line makes one give its place back, in ms: what it forgets then, it has to read again. */
const SLICE = 30_000;

/** Of a group: what is large is much work for the API server, too, and others are to have their part of that. */
const ONE = 1;

/** The places for those that take much memory while they are worked on. */
export interface LargeWork {
  /**
   * Whether this one has a place now. If not, it waits in line, and is woken when it has.
   *
   * @param givesWay whether it gives back what it has had for long, since it goes on later from where it is
   */
  readonly enter: (key: string, yields: boolean) => boolean;
  /** The round of work is over: it gives its place back, if it had one. */
  readonly leave: (key: string) => void;
}

/**
 * Bounds how many keys that take much memory are worked on at the same time.
 *
 * Guarantees: a place is held for one round of work only, so nobody in line waits for one who waits for him; while others
 *             are in line, one that gives way has it for a bounded time, however long its round is; a group
 *             has one place at most, and groups take turns as in {@link fairTurns}.
 * Assumes:    whoever is woken is worked on, and leaves.
 */
export const largeWork = (
  places: number,
  groupOf: (key: string) => string,
  wake: (key: string) => void,
  now: () => number = elapsed,
): LargeWork => {
  const line = fairTurns<string>(places, ONE);
  const waiting = new Set<string>();
  /** Since when they have been at work. */
  const inside = new Map<string, number | undefined>();
  /** @param self is at work already */
  const grant = (self?: string): void => {
    for (let key = line.next(); key !== undefined; key = line.next()) {
      waiting.delete(key);
      inside.set(key, key === self ? now() : undefined);
      if (key !== self) wake(key);
    }
  };
  const leave = (key: string): void => {
    if (!inside.delete(key)) return;
    line.leave(groupOf(key));
    grant();
  };
  return {
    enter: (key, yields) => {
      if (inside.has(key)) {
        const since = inside.get(key) ?? now();
        inside.set(key, since);
        if (!yields || waiting.size === 0 || now() < since + SLICE) return true;
        leave(key);
      }
      if (!waiting.has(key)) {
        waiting.add(key);
        line.join(groupOf(key), key);
        grant(key);
      }
      return inside.has(key);
    },
    leave,
  };
};
