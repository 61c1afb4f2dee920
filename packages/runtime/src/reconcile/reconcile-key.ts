// The one loop: reads an object, decides, carries out effects, until it waits or is done.
import { isDeepStrictEqual } from "node:util";
import type { ApiError, KubeObject } from "@janus/kube";
import { classify, type Instant, isAbsent, messageOf, retryAfterOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { inLanes } from "../process/in-lanes.ts";
import type { Log } from "../process/log.ts";
import { largeWork } from "../work-queue/large-work.ts";
import type { Requeue } from "../work-queue/work-queue.ts";
import type { Controller, Observed, Passed, Step } from "./controller.ts";
import { defectOf, namesOf } from "./defective-step.ts";
import type { Failure } from "./simulate.ts";
import {
  newTracked,
  type Resting,
  type TrackedObject,
  trackedObjects,
  type TrackedObjects,
} from "./tracked-objects.ts";

/** One turn of the loop for one object, or of another loop. */
export interface Round {
  /** Each line has the id of this round. */
  readonly log: Log;
  /** Called whenever there is progress. */
  readonly heartbeat: () => void;
}

/** observed: what happened is folded in. stale: another client has written the object meanwhile. */
type Outcome<Effect> = "observed" | "stale" | Failure<Effect>;

/** How often an object is read in one turn because another client has written it meanwhile. */
const MAX_READS = 10;

/** Concurrent effects of one object. */
const LANES = 16;

const MOST_STEPS = 1000;

/** How often the same effects may be decided on one after the other in one turn. */
const MOST_REPETITIONS = 10;

/** How soon an object is read again that waits for an instant that has passed, in ms. */
const PASSED = 1000;

/** The shell of a controller: requests, the cache, and all that is told of what is decided and of what happens. */
export interface Surroundings<Memory, Effect, Happened, Next extends Step<Effect> = Step<Effect>> {
  /** The kind of the objects, for messages. */
  readonly kind: string;
  readonly read: (key: string, round: Round) => Promise<E.Either<ApiError, KubeObject>>;
  /** Carries out an effect, and tells what happened. */
  readonly perform: (round: Round, tracked: TrackedObject<Memory>, effect: Effect) => Promise<Happened>;
  /** Adds a key to the work queue at once. */
  readonly wake: (key: string) => void;
  /** Whether the cache has an object with this key; a reason to try again if it cannot be read. */
  readonly mayExist: (key: string) => boolean;
  /** Whether the cache has what makes this version outdated, such as a request of a user; a reason to read it again. */
  readonly isOutdated?: (tracked: TrackedObject<Memory>) => boolean;
  /** Whether the cache no longer has it; a reason to read it again. */
  readonly mayBeDeleted: (tracked: TrackedObject<Memory>) => boolean;
  /** What is kept of an object that waits. Default: all of it. */
  readonly resting?: Resting<Memory>;
  // Default of all that follows: nobody listens.
  /** Tells what was decided to whatever is not in memory: watches, queues, events. */
  readonly onDecision?: (round: Round, tracked: TrackedObject<Memory>, step: Next) => void;
  /** Tells what has happened. */
  readonly onObserved?: (
    round: Round,
    before: Memory,
    tracked: TrackedObject<Memory>,
    happened: Happened | Passed,
    observed: Observed<Memory>,
  ) => void;
  /** Reports failures beyond the log. @returns how long the pause may be at most, in ms. */
  readonly onFailures?: (
    round: Round,
    tracked: TrackedObject<Memory>,
    failures: readonly [Failure<Effect>, ...(readonly Failure<Effect>[])],
  ) => Promise<number>;
  /** It was read: before anything is decided. */
  readonly onRead?: (tracked: TrackedObject<Memory>) => void;
  /** There is no object with this key any more. */
  readonly onAbsent?: (key: string) => void;
  /** It no longer exists, and something is to be done for it. */
  readonly onGone?: (round: Round, tracked: TrackedObject<Memory>) => void;
  /** Nothing is remembered of it any more. */
  readonly onForgotten?: (uid: string) => void;
  /** A defect of the controller itself has ended a turn, which rejects with it. */
  readonly onDefect?: (round: Round, tracked: TrackedObject<Memory>) => void;
}

export interface KeyReconciler<Memory, Effect, Happened> {
  readonly reconcile: (key: string, round: Round) => Promise<Requeue>;
  readonly tracked: TrackedObjects<Memory>;
  /** Folds in what has happened outside of a turn. */
  readonly fold: (round: Round, tracked: TrackedObject<Memory>, happened: Happened | Passed) => void;
  /** Carries out effects beside the turns, such as the renewal of locks. */
  readonly runEffects: (
    round: Round,
    tracked: TrackedObject<Memory>,
    effects: readonly Effect[],
    perform?: Surroundings<Memory, Effect, Happened>["perform"],
  ) => Promise<readonly Outcome<Effect>[]>;
  /** Starts no further step; those that have started are completed. */
  readonly stop: () => void;
}

/** The namespace of an object; `""` for those that are cluster-scoped. */
const groupOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf("/")));

/** Separates the key of an object that is gone from its uid: no name has such a character. */
const GONE = "%";

const isFailure = <Effect>(outcome: Outcome<Effect>): outcome is Failure<Effect> => typeof outcome === "object";

/** After a transient error no further requests are sent; a permanent one concerns its request alone. */
const isOverload = <Effect>(outcome: Outcome<Effect>): boolean =>
  isFailure(outcome) && classify(outcome.error) === "transient";

/** Requeues after the backoff, and not before the server's Retry-After, of which at most `most` ms are respected. */
const after = (errors: readonly ApiError[], most = Number.POSITIVE_INFINITY): Requeue => {
  const asked = Math.max(0, ...errors.map(retryAfterOf));
  return asked === 0 ? { type: "failed" } : { type: "failed", atLeast: Math.min(asked, most) };
};

/**
 * The one loop: read → decide → carry out effects → decide …, until the object waits for something or is done.
 *
 * Guarantees: every decision is made by the controller; what has happened is folded in before the next decision; a step that
 *             could not end is a defect, with which the turn rejects; a transient error ends the turn, and the object is reconciled again after a pause, with what is still certain of what was
 *             observed.
 * Assumes:    a key is never reconciled twice at once.
 */
export const reconcileKeys = <Memory, Effect, Happened, Next extends Step<Effect> = Step<Effect>>(
  controller: Controller<Memory, Effect, Happened, Next>,
  around: Surroundings<Memory, Effect, Happened, Next>,
): KeyReconciler<Memory, Effect, Happened> => {
  type Tracked = TrackedObject<Memory>;
  const { remember, decide, observe } = controller;
  const { kind } = around;
  const stopping = new AbortController();
  const all = trackedObjects(around.resting, (uid) => around.onForgotten?.(uid));
  const large = largeWork(groupOf, around.wake);

  const fold = (round: Round, tracked: Tracked, happened: Happened | Passed): ReturnType<typeof observe> => {
    const before = tracked.memory;
    const observed = observe(before, happened);
    tracked.memory = observed.memory;
    around.onObserved?.(round, before, tracked, happened, observed);
    return observed;
  };

  const isOver = ({ key, memory }: Tracked): boolean => controller.mayEndEarly?.(memory) === true && large.isOver(key);

  /**
   * Carries out effects concurrently, a bounded number at a time, in order. After a transient error no more are started; nor are
   * they once it `mustEnd`, but each is of those that have started, and one has.
   */
  const runEffects = async (
    round: Round,
    tracked: Tracked,
    effects: readonly Effect[],
    perform = around.perform,
    mustEnd: () => boolean = () => false,
  ): Promise<readonly Outcome<Effect>[]> => {
    const outcomes: Outcome<Effect>[] = [];
    await inLanes(effects.values(), controller.lanes?.(tracked.memory) ?? LANES, async (effect) => {
      const happened = await perform(round, tracked, effect);
      round.heartbeat();
      const { failed, isStale } = fold(round, tracked, happened);
      outcomes.push(isStale === true ? "stale" : failed === undefined ? "observed" : { effect, error: failed });
      return !outcomes.some(isOverload) && !mustEnd();
    });
    return outcomes;
  };

  const requeueAfter = async (
    round: Round,
    tracked: Tracked,
    failures: readonly [Failure<Effect>, ...(readonly Failure<Effect>[])],
  ): Promise<Requeue> => {
    fold(round, tracked, { type: "pausing", at: tracked.now() });
    const most = await around.onFailures?.(round, tracked, failures);
    return after(
      failures.map(({ error }) => error),
      most,
    );
  };

  const decideNext = (tracked: Tracked): Next => {
    const { memory, key, isGone } = tracked;
    const now = tracked.now();
    const claim = isGone ? undefined : controller.claim?.(memory, now);
    if (claim === undefined) return decide(memory, { now, hasMemory: true, isOver: false });
    return large.enter(key, claim)
      ? decide(memory, { now, hasMemory: true, isOver: large.isOver(key) })
      : decide(memory, { now, hasMemory: false, isOver: false });
  };

  /** @param decided when it was decided to wait */
  const waitOf = (
    { log }: Round,
    { until, because }: Extract<Step<Effect>, { type: "wait" }>,
    tracked: Tracked,
    decided: Instant,
  ): Requeue => {
    if (until === Number.POSITIVE_INFINITY) return { type: "done" };
    if (until >= decided) return { type: "after", ms: Math.max(10, until - tracked.now()) };
    log("warn", `the ${kind} waits until an instant that has passed; it is read again in a second`, { because });
    return { type: "after", ms: PASSED };
  };

  /** @param isStale whether it must be read again first */
  const steps = async (round: Round, tracked: Tracked, isStale: () => boolean): Promise<Requeue | "stale"> => {
    const most = controller.mostSteps?.(tracked.memory) ?? MOST_STEPS;
    let last: readonly Effect[] = [];
    let repetitions = 0;
    for (let left = most; left > 0 && !stopping.signal.aborted; left -= 1) {
      if (isStale()) return "stale";
      const decided = tracked.now();
      const step = decideNext(tracked);
      const defect = defectOf(step);
      if (defect !== undefined) throw new Error(defect);
      around.onDecision?.(round, tracked, step);
      if (step.type === "done") {
        all.forget(tracked);
        return { type: "done" };
      }
      if (step.type === "wait") {
        fold(round, tracked, { type: "waiting" });
        if (controller.isKept?.(tracked.memory, step) === false) all.forget(tracked);
        return waitOf(round, step, tracked, decided);
      }
      repetitions = isDeepStrictEqual(step.effects, last) ? repetitions + 1 : 1;
      last = step.effects;
      if (repetitions > MOST_REPETITIONS)
        throw new Error(`decide returned the same effects ${repetitions} times in a row: ${namesOf(last)}`);
      const outcomes = await runEffects(round, tracked, step.effects, around.perform, () => isOver(tracked));
      const [failure, ...others] = outcomes.filter(isFailure);
      if (failure !== undefined) return requeueAfter(round, tracked, [failure, ...others]);
      if (outcomes.includes("stale")) return "stale";
    }
    if (stopping.signal.aborted) return { type: "done" };
    throw new Error(`still not at rest after ${most} decisions; the last effects: ${namesOf(last)}`);
  };

  const trackedUnder = (key: string): readonly Tracked[] => all.under(key).filter(({ isGone }) => !isGone);

  /** What it has left is cleaned up under a key of its own: another object may have its name. */
  const cleanUpDeleted = (round: Round, tracked: Tracked): void => {
    // What there was of one that is an outline is not known any more, as after a restart.
    const left = tracked.isOutline ? undefined : controller.afterDeletion?.(tracked.memory, tracked.now());
    if (left === undefined) return all.forget(tracked);
    around.onGone?.(round, tracked);
    tracked.memory = left;
    tracked.isGone = true;
    around.wake(`${tracked.key}${GONE}${tracked.uid}`);
  };

  const absent = (round: Round, key: string): Requeue => {
    for (const tracked of trackedUnder(key)) cleanUpDeleted(round, tracked);
    around.onAbsent?.(key);
    // If the cache has it, no further event would trigger a reconcile, so it is retried.
    return { type: around.mayExist(key) ? "failed" : "done" };
  };

  /** What was remembered of it, if that is still true; what is still to be answered of a former one is folded into that. */
  const read = (object: KubeObject): Tracked => {
    const former = all.of(object.metadata.uid ?? "");
    const memory = former === undefined || former.isGone ? undefined : controller.refresh?.(former.memory, object);
    if (former === undefined || memory === undefined) return newTracked(object, remember);
    former.memory = memory;
    return former;
  };

  const reconcileLatest = async (key: string, round: Round): Promise<Requeue> => {
    for (let left = MAX_READS; left > 0; left -= 1) {
      const answer = await around.read(key, round);
      if (E.isLeft(answer)) {
        if (isAbsent(answer.left)) return absent(round, key);
        round.log("warn", `the ${kind} cannot be read; trying again`, { error: messageOf(answer.left) });
        return after([answer.left]);
      }
      const { metadata } = answer.right;
      for (const tracked of trackedUnder(key)) if (tracked.uid !== metadata.uid) cleanUpDeleted(round, tracked);
      const tracked = read(answer.right);
      around.onRead?.(tracked);
      all.work(tracked);
      try {
        // Only after the first read: the cache may be behind later ones.
        const mayBeGone = left === MAX_READS;
        const outcome = await steps(
          round,
          tracked,
          () => around.isOutdated?.(tracked) === true || (mayBeGone && around.mayBeDeleted(tracked)),
        );
        if (outcome !== "stale") return outcome;
      } catch (error) {
        around.onDefect?.(round, tracked);
        throw error;
      }
    }
    round.log("warn", `the ${kind} was read ${MAX_READS} times, and outdated each time; trying again after a pause`);
    return { type: "failed" };
  };

  const reconcileDeleted = async (round: Round, uid: string): Promise<Requeue> => {
    const tracked = all.of(uid);
    // It was read again since: then it is reconciled under its own key.
    if (tracked?.isGone !== true) return { type: "done" };
    all.work(tracked);
    try {
      // It may be there after all, and reconciled under its own key: that is told when something has happened.
      const outcome = await steps(round, tracked, () => all.of(uid) !== tracked);
      if (all.of(uid) !== tracked) return { type: "done" };
      return outcome === "stale" ? { type: "failed" } : outcome;
    } catch (error) {
      around.onDefect?.(round, tracked);
      throw error;
    } finally {
      all.rest(tracked);
    }
  };

  return {
    reconcile: async (key, round) => {
      const [, uid] = key.split(GONE);
      if (uid !== undefined) return reconcileDeleted(round, uid);
      try {
        return await reconcileLatest(key, round);
      } finally {
        large.leave(key);
        for (const tracked of trackedUnder(key)) all.rest(tracked);
      }
    },
    tracked: all,
    fold: (round, tracked, happened) => void fold(round, tracked, happened),
    runEffects,
    stop: () => stopping.abort(),
  };
};
