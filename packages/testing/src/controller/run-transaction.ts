// Runs a Transaction in the model until it has finished.
import { transactions } from "@janus/api";
import {
  type Effect,
  type Happened,
  isTerminal,
  type Memory,
  nobodyElse,
  renewals,
  reportRetry,
  resolvedTargets,
  resting,
  type Step,
  timeLeft,
  transactionController,
  type Watched,
  withContents,
} from "@janus/controller/core";
import { BACKOFF } from "@janus/controller/limits";
import { type Decided, type Failure, simulateController, type SimulatedWorld } from "@janus/runtime/core";
import { retryAfterOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { objectAt } from "../api-server/world.ts";
import { perform, SETTINGS } from "./perform.ts";
import type { Scenario } from "./scenario.ts";
import type { State } from "./state.ts";

const controller = transactionController(SETTINGS, () => nobodyElse);

/** Locks that have to be renewed by now, which the controller does beside everything else. */
const dueRenewals = (memory: Memory, now: number): ReturnType<typeof renewals> => {
  const { txn, known } = memory;
  return isTerminal(txn.status.phase)
    ? []
    : renewals(controller.contextOf(memory, now), resolvedTargets(withContents(txn, known), known));
};

/** The targets that have changed since they were read: a watch reports them at once. */
const news = ({ world }: State, watched: readonly Watched[]): readonly Watched[] =>
  watched.filter(({ place, resourceVersion }) => objectAt(world, place)?.metadata.resourceVersion !== resourceVersion);

/** One turn of the loop: what was decided, and the state before and after it. */
export interface Turn {
  readonly before: State;
  readonly step: Decided<Effect, Step>;
  readonly after: State;
}

/** The model, in which time passes and requests are carried out as the controller asks for them. */
const modelOf = (start: State, scenario: Scenario) => {
  let state = start;
  /** As it was when the last decision was made. */
  let decidedAt = start;
  /** Carries out one effect. */
  const carryOut = (effect: Effect, { txn, known }: Memory): Happened | "crashed" => {
    const performed = perform({ ...state, txn, known }, scenario, effect);
    state = performed.state;
    const { happened } = performed;
    if (state.requests.length === scenario.crashAt && "call" in effect) {
      state = { ...state, failures: 0 };
      return "crashed";
    }
    // What a write that failed would have told of does not happen.
    if (happened.type === "answered" && E.isRight(happened.answer))
      state = { ...state, events: [...state.events, ...(happened.effect.events ?? [])] };
    return happened;
  };
  /** Continues after a pause, and with what the status says of the failure. */
  const pause = (failed: Memory, failures: readonly Failure<Effect>[]): Memory | undefined => {
    const [failure] = failures;
    if (failure === undefined) return failed;
    const { effect, error } = failure;
    const { failures: former } = state;
    state = { ...state, failures: former + 1 };
    let { memory } = controller.observe(failed, { type: "pausing", at: state.now });
    const report = reportRetry(controller.contextOf(memory, state.now), effect, error);
    if (report !== undefined && "call" in report) {
      const happened = carryOut(report, memory);
      if (happened === "crashed") return undefined;
      ({ memory } = controller.observe(memory, happened));
    } else if (report !== undefined) {
      ({ memory } = controller.observe(memory, { type: "reported", at: state.now }));
      state = { ...state, events: [...state.events, report] };
    }
    const most = Math.min(Math.max(BACKOFF.first * 2 ** Math.min(former, 10), retryAfterOf(error)), BACKOFF.cap);
    state = { ...state, now: state.now + Math.min(most, timeLeft(controller.contextOf(memory, state.now))) };
    return memory;
  };
  const world: SimulatedWorld<Memory, Effect, Happened, Step> = {
    now: () => state.now,
    read: () => {
      const { name, namespace } = state.txn.metadata;
      return objectAt(state.world, { resource: transactions, namespace, name });
    },
    perform: carryOut,
    pause,
    wait: (step) => {
      const changed = news(state, step.watched ?? []);
      const now = changed.length > 0 ? state.now : Math.max(step.until, state.now + 10);
      state = { ...state, now, failures: 0 };
      return changed.map(({ index }): Happened => ({ type: "changed", index, at: now }));
    },
    onDecision: ({ txn, known }, step) => {
      decidedAt = { ...state, txn, known };
      if ("events" in step) state = { ...state, events: [...state.events, ...(step.events ?? [])] };
    },
    due: (memory) => dueRenewals(memory, state.now),
    rest: resting.rest,
  };
  /** The last turn, with what was remembered after it. */
  const turnOf = (step: Turn["step"], { txn, known }: Memory): Turn => {
    state = { ...state, txn, known };
    return { before: decidedAt, step, after: state };
  };
  return { world, turnOf };
};

/**
 * Takes one turn after the other, as the controller does: read, decide, send, until nothing is left to do.
 *
 * Guarantees: every decision is one of the controller's own core. Time passes in this clock alone.
 * Assumes:    no other Transaction has the same targets, and no client deletes or annotates this one.
 */
export function* turns(start: State, scenario: Scenario): Generator<Turn, void> {
  const { world, turnOf } = modelOf(start, scenario);
  for (const { step, after } of simulateController<Memory, Effect, Happened, Step>(controller, world)) {
    if (after.unreadable !== undefined)
      throw new Error(`the simulated status does not decode: ${after.unreadable.why}`);
    yield turnOf(step, after);
    // A finished one waits to expire, a Failed one to be retried, and a Draft for an edit or an approval: the user sees it as it is now.
    if (step.type === "wait" && (isTerminal(after.txn.status.phase) || step.rests !== undefined)) return;
  }
}

/** Returns the state of a Transaction that has taken all of its turns. */
export const runTransaction = (start: State, scenario: Scenario): State => {
  let state = start;
  for (const { after } of turns(start, scenario)) state = after;
  return state;
};
