import type { State } from "./state.ts";
import type { Next, Rules } from "./moment.ts";
import { isOver, successors } from "./successors.ts";

export interface Run {
  readonly end: State;
  readonly story: readonly string[];
}

/** What does not happen by itself. */
const isMisfortune = (line: string): boolean =>
  (line.startsWith("  ") && !line.startsWith("  waits")) || /no answer|denied by admission|is under way$/.test(line);

/** How much of the schedule is done after these lines; `undefined` if something else went wrong. */
const advance = (schedule: readonly string[], at: number, { story }: Next): number | undefined => {
  let next = at;
  for (const line of story) {
    if (schedule[next] !== undefined && line.trim() === schedule[next]) next += 1;
    else if (isMisfortune(line)) return undefined;
  }
  return next;
};

/**
 * Plays the run in which exactly what is in the schedule goes wrong. Lines of the schedule that are no misfortunes say when:
 * they must have come before the next one.
 */
export const follow = (start: State, rules: Rules, schedule: readonly string[]): Run => {
  const visit = (state: State, at: number, story: readonly string[]): Run | undefined => {
    if (isOver(state)) return at === schedule.length ? { end: state, story } : undefined;
    const candidates = successors(state, rules).flatMap((next) => {
      const done = advance(schedule, at, next);
      return done === undefined ? [] : [{ next, done }];
    });
    for (const { next, done } of candidates.toSorted((a, b) => b.done - a.done)) {
      const run = visit(next.state, done, [...story, ...next.story]);
      if (run !== undefined) return run;
    }
    return undefined;
  };
  const run = visit(start, 0, []);
  if (run === undefined) throw new Error(`no run goes by this schedule: ${schedule.join("; ")}`);
  return run;
};
