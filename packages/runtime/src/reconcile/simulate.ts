// Runs a controller against a simulated world, without a cluster: for unit tests, and for predictions.
import { type ApiError, classify, type Instant, type KubeObject } from "@janus/types";
import type { Controller, Step } from "./controller.ts";
import { defectOf, namesOf } from "./defective-step.ts";

/** An effect that failed, and why. */
export interface Failure<Effect> {
  readonly effect: Effect;
  readonly error: ApiError;
}

/** A decision of the controller, or what was due beside it. */
export type Decided<Effect, Next> = Next | { readonly type: "run"; readonly effects: readonly Effect[] };

/** The surroundings of a simulated object. Time passes in its clock alone. */
export interface SimulatedWorld<Memory, Effect, Happened, Next extends Step<Effect>> {
  readonly now: () => Instant;
  /** The object as it is stored; undefined: it does not exist. */
  readonly read: () => KubeObject | undefined;
  /** Carries out an effect, and tells what happened; "crashed": the process died, so nobody is told. */
  readonly perform: (effect: Effect, memory: Memory) => Happened | "crashed";
  /** Passes the time of a pause after failures. @returns what is remembered after it; undefined: nothing, the process died. */
  readonly pause: (memory: Memory, failures: readonly Failure<Effect>[]) => Memory | undefined;
  /** Passes the time that it waits, or part of it. @returns what has happened meanwhile. */
  readonly wait: (step: Extract<Next, { readonly type: "wait" }>, memory: Memory) => readonly Happened[];
  /** Tells what was decided, before it is carried out. Default: nobody listens. */
  readonly onDecision?: (memory: Memory, step: Decided<Effect, Next>) => void;
  /** What is due beside the decisions, such as the renewal of locks. Default: nothing. */
  readonly due?: (memory: Memory) => readonly Effect[];
  /** What is kept of the memory while it waits. Default: all of it. */
  readonly rest?: (memory: Memory) => Memory;
}

/** One decision, with what was remembered before and after it was carried out. */
export interface Simulated<Memory, Effect, Next extends Step<Effect>> {
  readonly before: Memory;
  readonly step: Decided<Effect, Next>;
  readonly after: Memory;
}

/** The most decisions, more than any object needs: one that never ends is a defect. */
const MOST_STEPS = 20_000;

type Carried<Memory, Effect> =
  | { readonly type: "observed" | "stale"; readonly memory: Memory }
  | { readonly type: "failed"; readonly memory: Memory; readonly failures: readonly Failure<Effect>[] }
  | { readonly type: "crashed"; readonly memory: Memory };

/** Carries out effects one after the other. After a transient error no more are. */
const carryOut = <Memory, Effect, Happened, Next extends Step<Effect>>(
  { observe }: Controller<Memory, Effect, Happened, Next>,
  { perform }: SimulatedWorld<Memory, Effect, Happened, Next>,
  start: Memory,
  effects: readonly Effect[],
): Carried<Memory, Effect> => {
  let memory = start;
  let wasStale = false;
  const failures: Failure<Effect>[] = [];
  for (const effect of effects) {
    const happened = perform(effect, memory);
    if (happened === "crashed") return { type: "crashed", memory };
    const { failed, isStale, memory: after } = observe(memory, happened);
    memory = after;
    wasStale ||= isStale === true;
    if (failed !== undefined) failures.push({ effect, error: failed });
    if (failed !== undefined && classify(failed) === "transient") break;
  }
  if (failures.length > 0) return { type: "failed", memory, failures };
  return { type: wasStale ? "stale" : "observed", memory };
};

/** What is remembered after a live read; undefined: the object does not exist, and nothing is left to do for it. */
const look = <Memory, Effect, Happened, Next extends Step<Effect>>(
  { remember, refresh, afterDeletion }: Controller<Memory, Effect, Happened, Next>,
  { read, now }: SimulatedWorld<Memory, Effect, Happened, Next>,
  memory: Memory | undefined,
): { readonly memory: Memory; readonly isGone: boolean } | undefined => {
  const object = read();
  if (object !== undefined) {
    const refreshed = memory === undefined ? undefined : refresh?.(memory, object);
    return { memory: refreshed ?? remember(object, now()), isGone: false };
  }
  const left = memory === undefined ? undefined : afterDeletion?.(memory, now());
  return left === undefined ? undefined : { memory: left, isGone: true };
};

/**
 * Takes one decision after the other, as the runtime does: read, decide, carry out, until nothing is left to do.
 *
 * Guarantees: every decision is one of the controller's own; it is read again after a wait, a conflict and a failure; after a crash,
 *             nothing is remembered.
 * Assumes:    whoever iterates stops when a wait is long enough.
 */
export function* simulateController<Memory, Effect, Happened, Next extends Step<Effect> = Step<Effect>>(
  controller: Controller<Memory, Effect, Happened, Next>,
  world: SimulatedWorld<Memory, Effect, Happened, Next>,
): Generator<Simulated<Memory, Effect, Next>, void> {
  const { decide, observe } = controller;
  const rest = world.rest ?? ((memory: Memory): Memory => memory);
  let memory: Memory | undefined;
  let isGone = false;
  let isRead = false;
  let last: readonly Effect[] = [];
  for (let left = MOST_STEPS; left > 0; left -= 1) {
    if (memory === undefined || (!isRead && !isGone)) {
      const found = look(controller, world, memory);
      if (found === undefined) return;
      ({ memory, isGone } = found);
      isRead = true;
    }
    const before: Memory = memory;
    const due = world.due?.(before) ?? [];
    const step: Decided<Effect, Next> =
      due.length > 0
        ? { type: "run", effects: due }
        : decide(before, { now: world.now(), hasMemory: true, isOver: false });
    const defect = defectOf(step);
    if (defect !== undefined) throw new Error(defect);
    world.onDecision?.(before, step);
    if (step.type === "run") {
      last = step.effects;
      const carried = carryOut(controller, world, before, step.effects);
      isRead = carried.type === "observed";
      const after = carried.type === "failed" ? world.pause(carried.memory, carried.failures) : carried.memory;
      yield { before, step, after: after ?? carried.memory };
      const isAlive = carried.type !== "crashed" && after !== undefined;
      memory = isAlive && carried.type === "failed" ? rest(after) : isAlive ? after : undefined;
      continue;
    }
    yield { before, step, after: before };
    if (step.type === "done") return;
    const happened = world.wait(step as Extract<Next, { readonly type: "wait" }>, before);
    isRead = false;
    memory = happened.reduce(
      (seen: Memory, one) => observe(seen, one).memory,
      rest(observe(before, { type: "waiting" }).memory),
    );
  }
  throw new Error(`the simulation does not end: ${MOST_STEPS} decisions were made; the last effects: ${namesOf(last)}`);
}
