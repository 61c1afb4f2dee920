// Runs a function soon after it was asked for, once for all who have asked, and never so often that it keeps the process busy.
import { defect, elapsed, type Log } from "@janus/runtime/parts";

export interface Rested {
  readonly soon: () => void;
  /** Ends it: the function is not run any more. */
  readonly stop: () => void;
}

/** The least delay, in ms: what is asked for within it is done together. */
const TOGETHER = 50;

/** The delay after a run that lasted `ms`: with thousands of objects that may be a second, and they change all the time. */
const restAfter = (ms: number): number => Math.min(5_000, Math.max(TOGETHER, 9 * ms));

/** Guarantees: after each call of `soon` it is run from the start, until it is stopped; an error that it throws is logged. */
export const rested = (what: string, log: Log, run: () => void): Rested => {
  let planned: NodeJS.Timeout | undefined;
  let lasted = 0;
  let isStopped = false;
  const now = (): void => {
    planned = undefined;
    const began = elapsed();
    try {
      run();
    } catch (error) {
      log("error", `internal error: ${what}`, defect(error));
    }
    lasted = elapsed() - began;
  };
  return {
    soon: () => {
      if (!isStopped) planned ??= setTimeout(now, restAfter(lasted));
    },
    stop: () => {
      isStopped = true;
      clearTimeout(planned);
    },
  };
};
