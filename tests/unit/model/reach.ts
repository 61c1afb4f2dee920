import { type Rules, situationOf } from "./moment.ts";
import type { Budget, State } from "./state.ts";
import { successors } from "./successors.ts";

const isMisfortune = (line: string): boolean =>
  (line.startsWith("  ") && !line.startsWith("  waits")) ||
  /no answer|denied by admission|a proxy|is under way$/.test(line);

/** The first state in this phase when all lines of the schedule have come to pass, and nothing else has gone wrong; with this budget. */
export const reach = (start: State, rules: Rules, schedule: readonly string[], phase: string, left: Budget): State => {
  const visit = (state: State, at: number): State | undefined => {
    if (at === schedule.length && situationOf(state).txn.status.phase === phase) return { ...state, left };
    for (const { state: after, story } of successors(state, rules)) {
      let next = at;
      const others = story.filter((line) => {
        const isPlanned = line.trim() === schedule[next];
        if (isPlanned) next += 1;
        return !isPlanned;
      });
      const found = others.some(isMisfortune) ? undefined : visit(after, next);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const found = visit(start, 0);
  if (found === undefined) throw new Error(`no run comes to ${phase} by: ${schedule.join("; ")}`);
  return found;
};
