// The context of functions while a template is rendered: what was handed in, and what is left of the bounds.
import { Failure } from "../template-error.ts";
import type { Entries, Value } from "../value/value.ts";

export interface Limits {
  /** Of work: actions, calls, values that are looked at. */
  readonly steps: number;
  /** Bytes of the output, and of any string on the way. */
  readonly output: number;
  /** Templates that call templates. */
  readonly depth: number;
}

export const LIMITS: Limits = { steps: 100_000, output: 1_048_576, depth: 100 };

export interface Context {
  readonly now: Date;
  readonly random: (bytes: number) => Uint8Array;
  readonly limits: Limits;
  /** Counts work, and gives up when there is too much. */
  readonly spend: (steps: number) => void;
  /** Gives up when a string of this length is longer than the output may be. */
  readonly claim: (bytes: number) => void;
  /** Changes a map, until the template is rendered: the data of the caller are as before. */
  readonly change: (entries: Entries, change: (map: Map<string, Value>) => void) => void;
  /** All that is done from now on depends on tainted values. */
  readonly taintRest: () => void;
  /** What is done now depends on tainted values. */
  readonly isTainted: () => boolean;
}

/** The counters of one rendering. */
export const meter = (limits: Limits): Pick<Context, "spend" | "claim"> => {
  let left = limits.steps;
  return {
    spend: (steps) => {
      left -= steps;
      if (left < 0)
        throw new Failure(`the template takes more than ${limits.steps} steps: it loops, or its data are too large`);
    },
    claim: (bytes) => {
      // Strings are work, too: copying a mebibyte takes some hundred steps.
      left -= bytes / 4096;
      if (bytes > limits.output) throw new Failure(`the template makes a text longer than ${limits.output} bytes`);
    },
  };
};
