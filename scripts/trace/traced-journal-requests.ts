// The module state/journal-requests.ts of the core as a trace loads it: writes of the journal remember who has made them.
import {
  checkpoint as makeCheckpoint,
  findJournal as makeFirst,
} from "../../packages/controller/src/core/state/journal-requests.ts";
import { remember } from "./makers.ts";

export * from "../../packages/controller/src/core/state/journal-requests.ts";

export const checkpoint: typeof makeCheckpoint = (...parts) => {
  const made = makeCheckpoint(...parts);
  remember(made);
  return made;
};

export const findJournal: typeof makeFirst = (...parts) => {
  const made = makeFirst(...parts);
  if (made !== undefined) remember(made);
  return made;
};
