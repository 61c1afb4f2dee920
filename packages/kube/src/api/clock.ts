/** Time, as an argument, so that tests need not wait for it. */
export interface Clock {
  /** ms; only differences mean something. */
  readonly now: () => number;
  /** Runs `run` once after `ms`, unless what it returned is called before. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/**
 * Guarantees: what has come over the network by then is read before anything runs. So a process that was too busy to look, or
 *             was paused, takes no answer for late that only itself was late for.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    // Node fires at once when a delay does not fit 31 bits (24.8 days).
    const longest = 2 ** 31 - 1;
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
