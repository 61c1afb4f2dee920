// Runs a Transaction in the model until it has finished.
import {
  atRest,
  BACKOFF,
  decide,
  isTerminal,
  observe,
  type ReconcileContext,
  renewals,
  reportedRetry,
  reportRetry,
  resolvedTargets,
  type Step,
  timeLeft,
  type Watched,
  withContents,
} from "@janus/controller/core";
import { retryAfterOf } from "@janus/types";
import { objectAt } from "../api-server/world.ts";
import { type Failure, reread, runEffects, SETTINGS } from "./run-effects.ts";
import type { Scenario } from "./scenario.ts";
import type { State } from "./state.ts";

/** The most decisions of a Transaction, more than any needs: one that never ends is a defect. */
const MOST_STEPS = 20_000;

const contextOf = ({ txn, known, now }: State): ReconcileContext => ({
  txn,
  known,
  now,
  settings: SETTINGS,
  queuedBefore: () => undefined,
  nextWaiter: () => undefined,
});

/** Locks that have to be renewed by now, which the controller does beside everything else. */
const dueRenewals = (context: ReconcileContext): ReturnType<typeof renewals> =>
  isTerminal(context.txn.status.phase)
    ? []
    : renewals(context, resolvedTargets(withContents(context.txn, context.known), context.known));

/** Continues after a pause, and with what the status says of the failure. */
const afterFailure = (state: State, scenario: Scenario, { effect, error }: Failure): State => {
  const { since } = state.known.retryingSince ?? { since: state.now };
  const known = { ...state.known, retryingSince: state.known.retryingSince ?? { since } };
  const failed: State = { ...state, known, failures: state.failures + 1 };
  const report = reportRetry(contextOf(failed), effect, error);
  const notified =
    report === undefined
      ? failed
      : "call" in report
        ? runEffects(failed, scenario, [report]).state
        : { ...failed, known: reportedRetry(known, failed.now), events: [...failed.events, report] };
  const pause = Math.min(Math.max(BACKOFF.first * 2 ** Math.min(state.failures, 10), retryAfterOf(error)), BACKOFF.cap);
  const now = notified.now + Math.min(pause, timeLeft(contextOf(notified)));
  return reread({ ...notified, ...atRest(notified), now });
};

/** The targets that have changed since they were read: a watch reports them at once. */
const news = ({ world }: State, watched: readonly Watched[]): readonly Watched[] =>
  watched.filter(({ place, resourceVersion }) => objectAt(world, place)?.metadata.resourceVersion !== resourceVersion);

const afterWait = (state: State, step: Extract<Step, { type: "wait" }>): State => {
  const changed = news(state, step.watched ?? []);
  const now = changed.length > 0 ? state.now : Math.max(step.until, state.now + 10);
  const { known } = atRest(state);
  return {
    ...state,
    now,
    known: changed.reduce(
      (known, { index }) =>
        observe({ txn: state.txn, known }, { type: "changed", index, at: now }, SETTINGS).memory.known,
      known,
    ),
    failures: 0,
  };
};

/** One turn of the loop: what was decided, and the state before and after it. */
export interface Turn {
  readonly before: State;
  readonly step: Step;
  readonly after: State;
}

/**
 * Takes one turn after the other, as the controller does: read, decide, send, until nothing is left to do.
 *
 * Guarantees: every decision is one of the controller's own core. Time passes in this clock alone.
 * Assumes:    no other Transaction has the same targets, and no client deletes or annotates this one.
 */
export function* turns(start: State, scenario: Scenario): Generator<Turn, void> {
  let state = start;
  for (let left = MOST_STEPS; left > 0; left -= 1) {
    const before = state;
    const due = dueRenewals(contextOf(state));
    const step: Step = due.length > 0 ? { type: "run", effects: due } : decide(contextOf(state));
    if (step.type !== "done") state = { ...state, events: [...state.events, ...(step.events ?? [])] };
    // A finished one waits to expire, a Failed one to be retried, and a Draft for an edit or an approval: the user sees it as it is now.
    const isOver =
      step.type === "done" ||
      (step.type === "wait" && (isTerminal(state.txn.status.phase) || step.rests !== undefined));
    if (step.type === "wait" && !isOver) state = afterWait(state, step);
    if (step.type === "run") {
      const round = runEffects(state, scenario, step.effects);
      state = round.failure === undefined ? round.state : afterFailure(round.state, scenario, round.failure);
    }
    yield { before, step, after: state };
    if (isOver) return;
  }
  throw new Error(
    `the simulation of the Transaction does not end: it is ${state.txn.status.phase} after ${MOST_STEPS} steps`,
  );
}

/** Returns the state of a Transaction that has taken all of its turns. */
export const runTransaction = (start: State, scenario: Scenario): State => {
  let state = start;
  for (const { after } of turns(start, scenario)) state = after;
  return state;
};
