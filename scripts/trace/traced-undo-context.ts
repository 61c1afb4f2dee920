// The module undo/undo-context.ts of the core as a trace loads it: the requests of a rollback remember who has made them.
import { continues as make } from "../../packages/controller/src/core/undo/undo-context.ts";
import { remember } from "./makers.ts";

export * from "../../packages/controller/src/core/undo/undo-context.ts";

export const continues: typeof make = (...effects) => {
  for (const effect of effects) remember(effect);
  return make(...effects);
};
