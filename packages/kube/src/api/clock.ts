// The clock of timers and deadlines, as an argument for tests.
import { MAX_INT32 } from "@janus/types";

/** A clock as an argument, so that tests need not wait. */
export interface Clock {
  /** In ms; only differences are meaningful. */
  readonly now: () => number;
  /** Calls `run` once after `ms`, unless the returned function is called before. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/**
 * Guarantees: what has arrived over the network by then is read before a timer fires. So a process that was busy or paused does
 *             not treat a response as late that it only read late.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    // Node fires at once when a delay is longer (24.8 days).
    const longest = MAX_INT32;
    let timer = setTimeout(ms > longest ? again : read, Math.min(ms, longest));
    let next: NodeJS.Immediate | undefined;
    let left = ms;
    function read() {
      next = setImmediate(run);
    }
    function again() {
      left -= longest;
      timer = setTimeout(left > longest ? again : read, Math.min(left, longest));
    }
    return () => {
      clearTimeout(timer);
      clearImmediate(next);
    };
  },
};
