// Measures what has become of an ActionSet between two states of memory: ends, phases, attempts, resumptions.
import { fromTimestamp, type Instant } from "@janus/types";
import { isTerminal } from "./after-end.ts";
import { functionNames } from "./functions/index.ts";
import type { Journal, PhaseRecord } from "./journal.ts";
import type { Memory } from "./memory.ts";
import { phaseAt } from "./phase-step.ts";
import { recordOf, recordsOf } from "./schedule.ts";

export type Result = "complete" | "failed";

/** An occurrence; names of actions and functions are of closed sets. */
export type Measure =
  /** seconds: since it began; undefined: it never did. */
  | {
      readonly type: "ended";
      readonly result: Result;
      readonly actions: readonly string[];
      readonly seconds: number | undefined;
    }
  /** An attempt at a phase has ended. */
  | { readonly type: "phase"; readonly func: string; readonly result: Result; readonly seconds: number }
  /** A phase has begun once more. */
  | { readonly type: "retried" }
  /** An ActionSet that another process had begun goes on. */
  | { readonly type: "resumed" }
  /** A phase whose result is lost: nobody knows what it has done. */
  | { readonly type: "interrupted"; readonly func: string };

/** The names of actions that Kanister and its callers use; others, which users choose, would each be a series of its own. */
export const ACTION_NAMES = ["backup", "restore", "delete", "backupPrehook", "backupPosthook"];

const OTHER = "other";

const among = (names: readonly string[], name = ""): string => (names.includes(name) ? name : OTHER);

const secondsBetween = (from: string | undefined, to: Instant): number =>
  Math.max(0, to - (fromTimestamp(from) ?? to)) / 1000;

const stateOf = ({ actionSet: { status } }: Memory): string | undefined => status?.state;

const journalOf = ({ journal }: Memory): Journal | undefined => (journal.type === "read" ? journal.journal : undefined);

const endsOf = (before: Memory, after: Memory, now: Instant): readonly Measure[] => {
  const state = stateOf(after);
  if (isTerminal(stateOf(before)) || (state !== "complete" && state !== "failed")) return [];
  const names = (after.actionSet.spec?.actions ?? []).map(({ name }) => among(ACTION_NAMES, name));
  const journal = journalOf(after);
  return [{ type: "ended", result: state, actions: names, seconds: journal && secondsBetween(journal.time, now) }];
};

/** The results of attempts that were running, by their states now. */
const RESULTS: Readonly<Record<string, Result>> = { complete: "complete", failed: "failed", retrying: "failed" };

const ofPhase = (func: string, was: PhaseRecord | undefined, is: PhaseRecord, now: Instant): readonly Measure[] => {
  const result = was?.state === "running" ? RESULTS[is.state] : undefined;
  const seconds = secondsBetween(is.startedAt, fromTimestamp(is.endedAt) ?? now);
  const attempts = Math.max(0, is.attempt - (was?.attempt ?? is.attempt));
  return [
    ...Array.from({ length: attempts }, () => ({ type: "retried" as const })),
    ...(result === undefined ? [] : [{ type: "phase" as const, func, result, seconds }]),
    ...(is.isInterrupted === true && was?.isInterrupted !== true ? [{ type: "interrupted" as const, func }] : []),
  ];
};

const phasesOf = (before: Journal, after: Journal, now: Instant): readonly Measure[] =>
  recordsOf(after).flatMap(({ record, ...id }) =>
    ofPhase(among(functionNames, phaseAt(after, id).func), recordOf(before, id), record, now),
  );

/** Tells whether this process has just found it under way. */
const isResumed = (before: Memory, after: Memory): boolean =>
  !before.isKnown && after.journal.type === "read" && !isTerminal(stateOf(after));

/**
 * Guarantees: what has happened is measured by the process whose write has recorded it, and so at most once, over restarts, too;
 *             what a process finds recorded is not measured again.
 */
export const measuresBetween = (before: Memory, after: Memory, now: Instant): readonly Measure[] => {
  const [was, is] = [journalOf(before), journalOf(after)];
  return [
    ...(isResumed(before, after) ? [{ type: "resumed" as const }] : []),
    ...(was === undefined || is === undefined || was === is ? [] : phasesOf(was, is, now)),
    ...endsOf(before, after, now),
  ];
};
