// The order of phases and actions: which begin next, and what a failure or a deletion of the ActionSet ends.
import { equal, fromTimestamp, type Instant } from "@janus/types";
import type { ActionRecord, Journal, PhaseRecord } from "./journal.ts";
import type { PhaseId } from "./phase-context.ts";
import { transactionUid } from "./atomic/transaction.ts";

export const PENDING: PhaseRecord = { state: "pending", attempt: 1 };

const isRunning = ({ state }: PhaseRecord): boolean => state === "running";
const isRetrying = ({ state }: PhaseRecord): boolean => state === "retrying";
const isActive = (record: PhaseRecord): boolean => isRunning(record) || isRetrying(record);
const isEnded = ({ state }: PhaseRecord): boolean => state === "complete" || state === "failed";

/** No further phase begins. */
export const isStopped = ({ error, deletedAt }: Journal): boolean => error !== undefined || deletedAt !== undefined;

/** Whether not all phases are done, and none begins any more. */
const isFailing = (journal: Journal): boolean =>
  isStopped(journal) && journal.actions.some(({ phases }) => phases.some(({ state }) => state !== "complete"));

/** Whether only deferPhases are left of an ActionSet. */
export const arePhasesEnded = ({ actions }: Journal): boolean => actions.every(({ phases }) => phases.every(isEnded));

/** Tells whether its Transaction has changed something that must not stay: of an attempt that is followed by another, or of all. */
export const isToBeRolledBack = (journal: Journal, { state, remembered, rollback }: PhaseRecord): boolean =>
  transactionUid(remembered) !== undefined &&
  (rollback === undefined || rollback.state === "withdrawing") &&
  (state === "retrying" || ((state === "complete" || state === "failed") && isFailing(journal)));

/** Whether phases that run are ended, too, but for deferPhases. */
export const mustEnd = ({ deletedAt, timedOutAt }: Journal): boolean =>
  deletedAt !== undefined || timedOutAt !== undefined;

export const recordOf = ({ actions }: Journal, { action, phase }: PhaseId): PhaseRecord | undefined =>
  phase === "defer" ? actions[action]?.deferPhase : actions[action]?.phases[phase];

/** A phase or deferPhase, by its place, with how far it is. */
export type PlacedRecord = PhaseId & { readonly record: PhaseRecord };

/** Returns all phases of all actions in their order, each deferPhase after the phases of its action. */
export const recordsOf = ({ actions }: Journal): readonly PlacedRecord[] =>
  actions.flatMap(({ phases, deferPhase }, action): readonly PlacedRecord[] => [
    ...phases.map((record, phase) => ({ action, phase, record })),
    ...(deferPhase === undefined ? [] : [{ action, phase: "defer" as const, record: deferPhase }]),
  ]);

/** The phases that are executed now. */
export const running = (journal: Journal): readonly PhaseId[] =>
  recordsOf(journal).flatMap(({ action, phase, record }) => (isRunning(record) ? [{ action, phase }] : []));

/** The phases that are executed again later, with the time when they are. */
export const retrying = (journal: Journal): readonly (PhaseId & { readonly at: Instant; readonly why: string })[] =>
  recordsOf(journal).flatMap(({ action, phase, record }) =>
    isRetrying(record) ? [{ action, phase, at: fromTimestamp(record.retryAt) ?? 0, why: record.message ?? "" }] : [],
  );

/** Whether the phases of an action are done, or none runs and none begins any more. */
const isOver = ({ phases }: ActionRecord, stopped: boolean): boolean =>
  phases.every(isEnded) || (stopped && !phases.some(isActive));

/** Whether an action was stopped before its first phase: then its deferPhase does not run. */
const isUnbegun = (journal: Journal, { phases }: ActionRecord): boolean =>
  isStopped(journal) && phases.every(({ state }) => state === "pending");

/** Whether nothing of an action is left to do, its deferPhase included. */
export const isDone = (journal: Journal, action: ActionRecord): boolean =>
  isOver(action, isStopped(journal)) &&
  !action.phases.some((record) => isToBeRolledBack(journal, record)) &&
  (action.deferPhase === undefined || isEnded(action.deferPhase) || isUnbegun(journal, action));

export const isAllDone = (journal: Journal): boolean => journal.actions.every((action) => isDone(journal, action));

const stamp = (at: Instant): string => new Date(at).toISOString();

const begun = (record: PhaseRecord, now: Instant): PhaseRecord => ({
  ...record,
  state: "running",
  startedAt: stamp(now),
});

/** The reason why a phase has failed. */
type Failure = Pick<PhaseRecord, "message" | "isInterrupted">;

const reasonOf = ({ message, isInterrupted }: Failure): Failure => ({
  ...(message === undefined ? {} : { message }),
  ...(isInterrupted === undefined ? {} : { isInterrupted }),
});

/** The next attempt of one that has failed: it remembers nothing of the last one. None begins once no phase does. */
const again = (record: PhaseRecord, stopped: boolean, isCleared: boolean, now: Instant): PhaseRecord => {
  if (!isRetrying(record)) return record;
  const { retryAt, ...last } = record;
  if (stopped) return { ...last, state: "failed" };
  const { remembered: _, message: __, isInterrupted: ___, rollback: ____, ...rest } = last;
  return isCleared && now >= (fromTimestamp(retryAt) ?? 0)
    ? begun({ ...rest, attempt: record.attempt + 1 }, now)
    : record;
};

/** Begins the next attempts of phases of an action that have failed. */
const retried = (journal: Journal, action: ActionRecord, isCleared: boolean, now: Instant): ActionRecord => {
  const { phases, deferPhase } = action;
  if (!phases.some(isRetrying) && (deferPhase === undefined || !isRetrying(deferPhase))) return action;
  const next = phases.map((record) =>
    again(record, isStopped(journal), isCleared && !isToBeRolledBack(journal, record), now),
  );
  // The deferPhase is the only chance to put back what the phases have changed.
  const isDeferStopped = journal.deletedAt !== undefined && deferPhase?.isInterrupted !== true;
  const defer = deferPhase && again(deferPhase, isDeferStopped, isCleared, now);
  const isSame = defer === deferPhase && next.every((record, at) => record === phases[at]);
  return isSame ? action : { ...action, phases: next, ...(defer && { deferPhase: defer }) };
};

/** Begins what is next in an action. */
const advanced = (journal: Journal, action: ActionRecord, isHeld: boolean, now: Instant): ActionRecord => {
  const { phases, deferPhase } = action;
  const stopped = isStopped(journal);
  if (isHeld && !stopped) return action;
  if (phases.some(isActive) || (deferPhase !== undefined && isActive(deferPhase))) return action;
  if (isOver(action, stopped)) {
    if (deferPhase === undefined || isEnded(deferPhase) || isUnbegun(journal, action)) return action;
    if (phases.some((record) => isToBeRolledBack(journal, record))) return action;
    return { ...action, deferPhase: begun(deferPhase, now) };
  }
  if (stopped) return action;
  const next = phases.findIndex(({ state }) => state === "pending");
  return { ...action, phases: phases.map((record, at) => (at === next ? begun(record, now) : record)) };
};

/**
 * Begins all that is next: phases in order, actions side by side or one after the other.
 *
 * @param isCleared whether what earlier attempts have made is removed: before that no other one begins
 */
export const scheduled = (journal: Journal, now: Instant, isCleared = true): Journal => {
  const isSequential = journal.spec.executionMode === "Sequential";
  const actions = journal.actions.map((action, at) => {
    const isHeld = isSequential && journal.actions.slice(0, at).some((earlier) => !isDone(journal, earlier));
    return advanced(journal, retried(journal, action, isCleared, now), isHeld, now);
  });
  return actions.some((action, at) => action !== journal.actions[at]) ? { ...journal, actions } : journal;
};

/** Replaces the record of one phase. */
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

export const failed = (record: PhaseRecord, failure: Failure, now: Instant): PhaseRecord => ({
  ...record,
  ...reasonOf(failure),
  state: "failed",
  endedAt: stamp(now),
});

/** The record of a phase that has failed, and is executed again. */
export const toBeRetried = (record: PhaseRecord, failure: Failure, at: Instant): PhaseRecord => ({
  ...record,
  ...reasonOf(failure),
  state: "retrying",
  retryAt: stamp(at),
});
