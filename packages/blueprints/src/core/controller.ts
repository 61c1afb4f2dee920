// The controller of ActionSets, as the runtime wants it: what is remembered, decided and folded, in pure functions.
import type { Controller } from "@janus/runtime";
import { decide, type Surroundings } from "./decide.ts";
import type { Effect, Step } from "./effect.ts";
import { type Happened, type Memory, refresh, remember } from "./memory.ts";
import { observe } from "./observe.ts";
import type { Settings } from "./phase-context.ts";

/** @param around see `Surroundings`. Default: it is always its turn, and the status is no subresource. */
export const actionSetController = (
  settings: Settings,
  { mayBegin = () => true, isStatusApart = () => false }: Partial<Omit<Surroundings, "settings">> = {},
): Controller<Memory, Effect, Happened, Step> => ({
  remember,
  refresh,
  decide: (memory, { now }) => decide(memory, now, { settings, mayBegin, isStatusApart }),
  observe,
  // An ActionSet that has ended may stay for years.
  isKept: ({ journal }, { isQueued }) => journal.type === "read" || isQueued === true,
});
