import { type Clock, systemClock } from "../api/clock.ts";

/**
 * Runs what is asked for of a key at once, and then no more often than each `interval` ms.
 *
 * Guarantees: whatever was asked for, it runs once after that, and within the interval; keys wait for nothing but themselves.
 */
export const throttle = (
  interval: number,
  run: (key: string) => void,
  clock: Clock = systemClock,
): ((key: string) => void) => {
  /** Those that have run within the interval, and whether they are to run again at its end. */
  const recent = new Map<string, "ran" | "asked">();
  const start = (key: string): void => {
    recent.set(key, "ran");
    clock.after(interval, () => {
      if (recent.get(key) === "asked") start(key);
      else recent.delete(key);
    });
    run(key);
  };
  return (key) => {
    if (recent.has(key)) recent.set(key, "asked");
    else start(key);
  };
};
