import type { Instant } from "../../core/index.ts";

/** The wall clock. It may be set at any time: for what is shown to people, or compared with times that are not of this process. */
export const wall = (): Instant => Date.now();

/** A clock that shows the wall clock as it stood when it began, and is never set from then on: no time passes but what does. */
export type Clock = () => Instant;

export const newClock = (): Clock => {
  const ahead = Date.now() - performance.now();
  return () => ahead + performance.now();
};

/** For durations alone, in ms. */
export const elapsed = (): number => performance.now();
