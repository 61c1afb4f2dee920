// Remembers which functions of the core made a step: those on the stack when its first request was made.
import { getCallSites } from "node:util";
import type { Effect, Step } from "../../packages/controller/src/core/state/effect.ts";

/** A function of the core, and its file. */
export interface Maker {
  readonly name: string;
  /** Its path below the folder of the core. */
  readonly file: string;
}

const CORE = new URL("../../packages/controller/src/core/", import.meta.url).href;
/** As many as Node tells. */
const MOST_FRAMES = 200;
/** It asks the functions of a list in turn, and decides nothing itself. */
const ASKING = "state/effect.ts";

/** The functions of the core on the stack, the first caller first, without `decide`, which they have in common. */
const onStack = (): readonly Maker[] =>
  getCallSites(MOST_FRAMES)
    .flatMap(({ functionName, scriptName }): readonly Maker[] => {
      if (functionName === "" || functionName === "decide" || !scriptName.startsWith(CORE)) return [];
      const file = scriptName.slice(CORE.length);
      return file === ASKING ? [] : [{ name: functionName, file }];
    })
    .toReversed();

/** A request keeps its call when another function adds to how its answer is handled. */
const keyOf = (effect: Effect): object => ("call" in effect ? effect.call : effect);

const makers = new WeakMap<object, readonly Maker[]>();
let ofLastWait: readonly Maker[] = [];

/** Remembers who is making this request, unless that is known already; without one, a wait. */
export const remember = (effect?: Effect): void => {
  if (effect === undefined) ofLastWait = onStack();
  else if (!makers.has(keyOf(effect))) makers.set(keyOf(effect), onStack());
};

/** Who has made this step; empty if no function of `decide` has. Call it before the next decision. */
export const makersOf = (step: Step): readonly Maker[] => {
  switch (step.type) {
    case "run":
      return step.effects.map((effect) => makers.get(keyOf(effect))).find((found) => found !== undefined) ?? [];
    case "wait":
      return ofLastWait;
    case "done":
      return [];
  }
};
