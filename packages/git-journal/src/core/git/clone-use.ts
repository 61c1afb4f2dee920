// The memory of a clone from one cycle to the next, and the cycle that follows from it.
import type { Job, Outcome, Plan, Start } from "./cycle.ts";

export interface CloneUse {
  readonly start: Start;
  /** Whether commits that an earlier process has left are pushed, or there are none. */
  readonly isRecovered: boolean;
  /** The number of pushes since the clone was made small. */
  readonly pushes: number;
}

/** The number of pushes after which a clone is made small. */
const MOST_PUSHES = 50;

/** The memory of a process that has just begun. The size of the clone is not known, so it is made small at once. */
export const UNUSED: CloneUse = { start: "disk", isRecovered: false, pushes: MOST_PUSHES };

export type Cycling<Read> = Omit<Job<Read>, "place"> & { readonly start: Start };

/**
 * Decides the next cycle.
 *
 * Guarantees: nothing is written before the commits that were left are recovered: new ones would take their place.
 *
 * @param isFresh whether the server is asked for the tip, even if one is known
 */
export const nextCycle = <Read>(use: CloneUse, plan: Plan<Read>, isFresh: boolean): Cycling<Read> => {
  if (!use.isRecovered) return { plan: "recover", repack: false, start: use.start };
  const start = isFresh && use.start !== "disk" ? "clone" : use.start;
  return { plan, repack: use.pushes >= MOST_PUSHES, start };
};

export const afterCycle = <Read>(use: CloneUse, { plan, repack }: Cycling<Read>, outcome: Outcome): CloneUse => {
  const isDone = outcome.is !== "failed";
  const pushes = repack && isDone ? 0 : use.pushes;
  return {
    start: outcome.next,
    isRecovered: use.isRecovered || (plan === "recover" && isDone),
    pushes: outcome.is === "pushed" ? pushes + 1 : pushes,
  };
};
