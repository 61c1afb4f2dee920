// The module state/effect.ts of the core as a trace loads it: each step that is made remembers who has made it.
import {
  type Effect,
  run as make,
  type Step,
  wait as makeWait,
} from "../../packages/controller/src/core/state/effect.ts";
import { remember } from "./makers.ts";

export * from "../../packages/controller/src/core/state/effect.ts";

export const run = (...effects: readonly Effect[]): Extract<Step, { readonly type: "run" }> => {
  for (const effect of effects) remember(effect);
  return make(...effects);
};

export const wait: typeof makeWait = (until, because, ...events) => {
  remember();
  return makeWait(until, because, ...events);
};
