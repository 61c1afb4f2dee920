// The controller of ActionSets, as the runtime wants it: what is remembered, decided and folded, in pure functions.
import type { Controller } from "@janus/runtime";
import { decide } from "./decide.ts";
import type { Effect, Step } from "./effect.ts";
import { type Happened, type Memory, refresh, remember } from "./memory.ts";
import { observe } from "./observe.ts";
import type { Settings } from "./phase-context.ts";

export const actionSetController = (settings: Settings): Controller<Memory, Effect, Happened, Step> => ({
  remember,
  refresh,
  decide: (memory, { now }) => decide(memory, now, settings),
  observe,
  // One that has ended may stay for years.
  isKept: ({ journal }) => journal.type === "read",
});
