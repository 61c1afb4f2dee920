import { turns } from "@janus/kube";

/** The places for those that take much memory while they are worked on. */
export interface LargeWork {
  /** Whether this one has a place now. If not, it waits in line, and is woken when it has. */
  readonly enter: (key: string) => boolean;
  /** The round of work is over: it gives its place back, if it had one. */
  readonly leave: (key: string) => void;
}

/**
 * Bounds how many keys that take much memory are worked on at the same time.
 *
 * Guarantees: a place is held for one round of work only, so nobody in line waits for one who waits for him; groups share the
 *             places as in {@link turns}.
 * Assumes:    whoever is woken is worked on, and leaves.
 */
export const largeWork = (places: number, groupOf: (key: string) => string, wake: (key: string) => void): LargeWork => {
  const line = turns<string>(places);
  const waiting = new Set<string>();
  const inside = new Set<string>();
  /** @param self is at work already */
  const grant = (self?: string): void => {
    for (let key = line.next(); key !== undefined; key = line.next()) {
      waiting.delete(key);
      inside.add(key);
      if (key !== self) wake(key);
    }
  };
  return {
    enter: (key) => {
      if (inside.has(key)) return true;
      if (!waiting.has(key)) {
        waiting.add(key);
        line.join(groupOf(key), key);
        grant(key);
      }
      return inside.has(key);
    },
    leave: (key) => {
      if (!inside.delete(key)) return;
      line.leave(groupOf(key));
      grant();
    },
  };
};
