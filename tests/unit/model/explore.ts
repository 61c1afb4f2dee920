import type { State } from "./state.ts";
import { fingerprint } from "./state.ts";
import { violations } from "./invariants.ts";
import { type Rules, situationOf } from "./moment.ts";
import { isOver, successors } from "./successors.ts";

export interface Violation {
  readonly what: string;
  /** One line for each thing that happened, from the beginning. */
  readonly story: readonly string[];
}

export interface Exploration {
  readonly states: number;
  /** Ends by phase. */
  readonly ends: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  /** Whether everything that can be reached was. */
  readonly complete: boolean;
}

interface Seen {
  readonly from: number;
  readonly story: readonly string[];
}

/** A run that never ends, if there is one: in a finite graph, a circle. */
const circle = (following: readonly (readonly number[])[]): number | undefined => {
  const done = new Uint8Array(following.length);
  for (const start of following.keys()) {
    const path: { readonly at: number; next: number }[] = [{ at: start, next: 0 }];
    while (done[start] !== 2) {
      const last = path.at(-1);
      if (last === undefined) break;
      done[last.at] = 1;
      const to = following[last.at]?.[last.next];
      last.next += 1;
      if (to === undefined) {
        done[last.at] = 2;
        path.pop();
      } else if (done[to] === 1) return to;
      else if (done[to] === 0) path.push({ at: to, next: 0 });
    }
  }
  return undefined;
};

/**
 * Goes everywhere that can be reached: fewest misfortunes first, then shortest, so that the first violation found is told
 * by the shortest story.
 *
 * Guarantees: every state within the budget was visited if `complete`; each kind of violation is told once.
 */
export const explore = (start: State, rules: Rules, most = Number.POSITIVE_INFINITY): Exploration => {
  const seen: Seen[] = [{ from: -1, story: [] }];
  const ids = new Map([[fingerprint(start), 0]]);
  const following: number[][] = [[]];
  const layers: { readonly id: number; readonly state: State }[][] = [[{ id: 0, state: start }]];
  const ends: Record<string, number> = {};
  const found = new Map<string, Violation>();

  const storyTo = (id: number): readonly string[] => {
    const parts: (readonly string[])[] = [];
    for (let at = seen[id]; at !== undefined; at = seen[at.from]) parts.push(at.story);
    return parts.toReversed().flat();
  };
  const tell = (what: string, id: number): void => {
    if (!found.has(what)) found.set(what, { what, story: storyTo(id) });
  };

  let explored = 0;
  for (const [misfortunes, layer] of layers.entries()) {
    for (const { id, state } of layer) {
      if (state.broken !== undefined) {
        tell(state.broken, id);
        continue;
      }
      if (explored >= most) continue;
      explored += 1;
      const next = successors(state, rules);
      if (next.length === 0 || isOver(state)) {
        const { phase } = situationOf(state).txn.status;
        ends[phase] = (ends[phase] ?? 0) + 1;
        for (const what of violations(state)) tell(what, id);
      }
      for (const { state: after, story } of next) {
        const print = fingerprint(after);
        let to = ids.get(print);
        if (to === undefined) {
          to = seen.length;
          ids.set(print, to);
          seen.push({ from: id, story });
          following.push([]);
          const misfortune = misfortunes + state.left.all - after.left.all;
          while (layers.length <= misfortune) layers.push([]);
          layers[misfortune]?.push({ id: to, state: after });
        }
        following[id]?.push(to);
      }
    }
    layer.length = 0;
  }
  const spinning = circle(following);
  if (spinning !== undefined) tell("it comes to no end", spinning);
  return { states: seen.length, ends, violations: [...found.values()], complete: explored < most };
};

/** For people: what went wrong, and how it came to that. */
export const showViolations = ({ violations: found }: Exploration): string =>
  found.map(({ what, story }) => [`✗ ${what}`, ...story.map((line) => `    ${line}`)].join("\n")).join("\n\n");
