// The clocks of the process: wall clock, instants and durations.
import type { Instant } from "@janus/types";

/** The wall clock. It may be set at any time: only for times that are displayed, or compared with times of other processes. */
export const wall = (): Instant => Date.now();

/** A clock that starts at the wall clock, and is never set afterwards: it advances only as time passes. */
export type InstantClock = () => Instant;

export const newClock = (): InstantClock => {
  const ahead = Date.now() - performance.now();
  return () => ahead + performance.now();
};

/** A monotonic clock for durations, in ms. */
export const elapsed = (): number => performance.now();
