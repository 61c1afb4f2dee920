/** Time, as an argument, so that tests need not wait for it. */
export interface Clock {
  /** ms; only differences mean something. */
  readonly now: () => number;
  /** Runs `run` once after `ms`, unless what it returned is called before. */
  readonly after: (ms: number, run: () => void) => () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    // Node fires at once when a delay does not fit 31 bits (24.8 days).
    const longest = 2 ** 31 - 1;
    let timer = setTimeout(ms > longest ? again : run, Math.min(ms, longest));
    let left = ms;
    function again() {
      left -= longest;
      timer = setTimeout(left > longest ? again : run, Math.min(left, longest));
    }
    return () => clearTimeout(timer);
  },
};
