import { setTimeout } from "node:timers/promises";

const within = 300_000;

/** Errors: rejects when it does not hold in time. */
export const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > within) throw new Error(`${what}: not within ${within / 1000} s`);
    await setTimeout(25);
  }
};
