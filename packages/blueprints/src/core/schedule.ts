// The order of phases and actions: which begin next, and what a failure or a deletion of the ActionSet ends.
import { equal, type Instant } from "@janus/types";
import type { ActionRecord, Journal, PhaseRecord } from "./journal.ts";
import type { PhaseId } from "./phase-context.ts";

export const PENDING: PhaseRecord = { state: "pending", attempt: 1 };

const isRunning = ({ state }: PhaseRecord): boolean => state === "running";
const isEnded = ({ state }: PhaseRecord): boolean => state === "complete" || state === "failed";

/** No further phase begins. */
export const isStopped = ({ error, deletedAt }: Journal): boolean => error !== undefined || deletedAt !== undefined;

export const recordOf = ({ actions }: Journal, { action, phase }: PhaseId): PhaseRecord | undefined =>
  phase === "defer" ? actions[action]?.deferPhase : actions[action]?.phases[phase];

/** The phases that are executed now. */
export const running = ({ actions }: Journal): readonly PhaseId[] =>
  actions.flatMap(({ phases, deferPhase }, action): readonly PhaseId[] => [
    ...phases.flatMap((record, phase) => (isRunning(record) ? [{ action, phase }] : [])),
    ...(deferPhase !== undefined && isRunning(deferPhase) ? [{ action, phase: "defer" as const }] : []),
  ]);

/** Nothing is left of its phases: they are done, or none begins any more. */
const isOver = ({ phases }: ActionRecord, stopped: boolean): boolean =>
  phases.every(isEnded) || (stopped && !phases.some(isRunning));

/** It was stopped before its first phase: then it has no deferPhase. */
const isUnbegun = (journal: Journal, { phases }: ActionRecord): boolean =>
  isStopped(journal) && phases.every(({ state }) => state === "pending");

/** Nothing is left of it, its deferPhase included. */
export const isDone = (journal: Journal, action: ActionRecord): boolean =>
  isOver(action, isStopped(journal)) &&
  (action.deferPhase === undefined || isEnded(action.deferPhase) || isUnbegun(journal, action));

export const isAllDone = (journal: Journal): boolean => journal.actions.every((action) => isDone(journal, action));

const stamp = (at: Instant): string => new Date(at).toISOString();

const begun = (record: PhaseRecord, now: Instant): PhaseRecord => ({
  ...record,
  state: "running",
  startedAt: stamp(now),
});

/** With what begins next in an action. */
const advanced = (journal: Journal, action: ActionRecord, now: Instant): ActionRecord => {
  const { phases, deferPhase } = action;
  const stopped = isStopped(journal);
  if (phases.some(isRunning) || (deferPhase !== undefined && isRunning(deferPhase))) return action;
  if (isOver(action, stopped)) {
    if (deferPhase === undefined || isEnded(deferPhase) || isUnbegun(journal, action)) return action;
    return { ...action, deferPhase: begun(deferPhase, now) };
  }
  if (stopped) return action;
  const next = phases.findIndex(({ state }) => state === "pending");
  return { ...action, phases: phases.map((record, at) => (at === next ? begun(record, now) : record)) };
};

/** With all that begins next: phases in order, actions side by side. */
export const scheduled = (journal: Journal, now: Instant): Journal => {
  const actions = journal.actions.map((action) => advanced(journal, action, now));
  return actions.some((action, at) => action !== journal.actions[at]) ? { ...journal, actions } : journal;
};

/** With one phase replaced. */
export const withRecord = (journal: Journal, { action, phase }: PhaseId, record: PhaseRecord): Journal => ({
  ...journal,
  actions: journal.actions.map((one, at) => {
    if (at !== action) return one;
    return phase === "defer"
      ? { ...one, deferPhase: record }
      : { ...one, phases: one.phases.map((other, n) => (n === phase ? record : other)) };
  }),
});

export const completed = (
  record: PhaseRecord,
  output: Readonly<Record<string, string>>,
  shown: Readonly<Record<string, string>>,
  now: Instant,
): PhaseRecord => ({
  ...record,
  state: "complete",
  endedAt: stamp(now),
  output,
  ...(equal(output, shown) ? {} : { shown }),
});

export const failed = (record: PhaseRecord, message: string, now: Instant): PhaseRecord => ({
  ...record,
  state: "failed",
  endedAt: stamp(now),
  message,
});
