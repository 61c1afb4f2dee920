// Limits how often a function runs for a key.
import { type Clock, systemClock } from "@janus/kube";

/**
 * Calls `run` for a key at once, and then at most once per `interval` ms.
 *
 * Guarantees: after every call it runs for that key within the interval; keys are independent of each other.
 */
export const throttle = (
  interval: number,
  run: (key: string) => void,
  clock: Clock = systemClock,
): ((key: string) => void) => {
  /** The keys that have run within the interval, and whether they must run again at its end. */
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
