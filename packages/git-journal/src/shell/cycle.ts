// Runs a cycle to its end, one effect after the other.
import type * as E from "fp-ts/lib/Either.js";
import { effectOf, type Outcome, type State } from "../core/git/cycle.ts";
import type { Effect, Results } from "../core/git/effect.ts";
import type { GitFailure } from "../core/git/git-answer.ts";
import { next } from "../core/git/next.ts";

export type Perform<Read> = (effect: Effect<Read>) => Promise<E.Either<GitFailure, Results<Read>[keyof Results<Read>]>>;

export const runCycle = async <Read>(from: State<Read>, perform: Perform<Read>): Promise<Outcome> => {
  let state: State<Read> = from;
  for (;;) {
    const following = next(state, await perform(effectOf(state)));
    if (following.at === "end") return following.outcome;
    state = following;
  }
};
