// The module state/status-update.ts of the core as a trace loads it: writes of the status remember who has made them.
import { updateStatus as make } from "../../packages/controller/src/core/state/status-update.ts";
import { remember } from "./makers.ts";

export * from "../../packages/controller/src/core/state/status-update.ts";

export const updateStatus: typeof make = (...parts) => {
  const made = make(...parts);
  remember(made);
  return made;
};
