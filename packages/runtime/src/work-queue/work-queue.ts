// A queue of keys to reconcile, with backoff and fairness among groups.
import { type Backoff, delayAfter, type Clock, systemClock } from "@janus/kube";
import { fairTurns, type Shared } from "./fair-turns.ts";

/** The future of a key when the work on it has ended. */
export type Requeue =
  /** It is not processed before it is added again. */
  | { readonly type: "done" }
  /** Success; it is processed again in `ms`. */
  | { readonly type: "after"; readonly ms: number }
  /** Failure; it is processed again after the backoff, and not before `atLeast` ms (a server's Retry-After) unless it is urged. */
  | { readonly type: "failed"; readonly atLeast?: number };

/** Events for metrics and logs. Times in ms. */
export type QueueEvent =
  | { readonly type: "queued"; readonly key: string; readonly depth: number }
  | { readonly type: "started"; readonly key: string; readonly depth: number; readonly waited: number }
  | { readonly type: "ended"; readonly key: string; readonly took: number; readonly requeue: Requeue }
  | { readonly type: "threw"; readonly key: string; readonly error: unknown };

export interface QueueOptions {
  /** How many keys are processed at the same time. */
  readonly concurrency: number;
  readonly work: (key: string) => Promise<Requeue>;
  /** The group of a key, for {@link fairTurns}. It may change; the one when it is added counts. Default: each key is a group. */
  readonly groupOf?: (key: string) => string;
  /** Limits further which keys are processed at the same time. */
  readonly shared?: Shared<string>;
  /** The pause of a key after work that failed. */
  readonly backoff: Backoff;
  readonly observe?: (event: QueueEvent) => void;
  readonly clock?: Clock;
  /** From 0 to 1. Default: Math.random. */
  readonly random?: () => number;
}

export interface WorkQueue {
  /** Queues the key; if it is being processed, it is processed once more. */
  readonly add: (key: string) => void;
  /** The same, without waiting for a server's Retry-After: for requests of users. */
  readonly urge: (key: string) => void;
  /** Queues the key in `ms`. Of several times the earliest counts. */
  readonly addAfter: (key: string, ms: number) => void;
  /** Accepts no more keys, drops those that wait, and resolves when the active work has ended. */
  readonly drain: () => Promise<void>;
}

/**
 * A queue of keys to reconcile, not of events.
 *
 * Guarantees: a key is never processed twice at once; after an `add` the key is processed from the start, once for all adds
 * before that; groups take turns, and the keys of a group among themselves, so that one that is always queued again, or never
 * ends, does not block the others; a key that fails waits longer each time, up to a cap, until it succeeds.
 * Never: ends because `work` threw. That counts as `failed`.
 */
export const newWorkQueue = (options: QueueOptions): WorkQueue => {
  const { concurrency, work, groupOf = (key) => key, shared, backoff } = options;
  const { observe = () => {}, clock = systemClock, random = Math.random } = options;
  const places = fairTurns<string>(concurrency, shared);
  /** Waiting keys: the time since when, and the group. */
  const waiting = new Map<string, { readonly since: number; readonly group: string }>();
  const working = new Map<string, "clean" | "dirty" | "urged">();
  const later = new Map<string, { readonly due: number; readonly cancel: () => void }>();
  const failures = new Map<string, number>();
  /** The end of a server's Retry-After. */
  const notBefore = new Map<string, number>();
  let drained: (() => void) | undefined;
  let draining: Promise<void> | undefined;

  const add = (key: string): void => {
    if (draining) return;
    if (working.has(key)) {
      if (working.get(key) === "clean") working.set(key, "dirty");
      return;
    }
    const queued = waiting.get(key);
    const group = groupOf(key);
    if (queued?.group === group) return;
    if (queued !== undefined) {
      places.quit(queued.group, key);
      waiting.set(key, { ...queued, group });
      places.join(group, key);
      next();
      return;
    }
    const until = notBefore.get(key);
    if (until !== undefined && until > clock.now()) {
      addAfter(key, until - clock.now());
      return;
    }
    waiting.set(key, { since: clock.now(), group });
    places.join(group, key);
    observe({ type: "queued", key, depth: waiting.size });
    next();
  };

  const urge = (key: string): void => {
    notBefore.delete(key);
    add(key);
    if (working.get(key) === "dirty") working.set(key, "urged");
  };

  const addAfter = (key: string, ms: number): void => {
    if (draining) return;
    const due = clock.now() + ms;
    const planned = later.get(key);
    if (planned !== undefined && planned.due <= due) return;
    planned?.cancel();
    const cancel = clock.after(ms, () => {
      later.delete(key);
      add(key);
    });
    later.set(key, { due, cancel });
  };

  const next = (): void => {
    for (let key = places.next(); key !== undefined; key = places.next()) {
      const since = waiting.get(key)?.since ?? clock.now();
      waiting.delete(key);
      notBefore.delete(key);
      // This is the run that was scheduled for later.
      later.get(key)?.cancel();
      later.delete(key);
      working.set(key, "clean");
      observe({ type: "started", key, depth: waiting.size, waited: clock.now() - since });
      void run(key);
    }
  };

  const run = async (key: string): Promise<void> => {
    const started = clock.now();
    const requeue = await attempt(key);
    observe({ type: "ended", key, took: clock.now() - started, requeue });
    const added = working.get(key);
    working.delete(key);
    places.leave(key);
    if (requeue.type === "failed") {
      const failed = (failures.get(key) ?? 0) + 1;
      failures.set(key, failed);
      if (requeue.atLeast !== undefined && added !== "urged") notBefore.set(key, clock.now() + requeue.atLeast);
      addAfter(key, Math.max(delayAfter(failed, backoff, random()), requeue.atLeast ?? 0));
    } else {
      failures.delete(key);
      if (requeue.type === "after") addAfter(key, requeue.ms);
    }
    if (added !== "clean") add(key);
    if (draining === undefined) next();
    else if (working.size === 0) drained?.();
  };

  const attempt = async (key: string): Promise<Requeue> => {
    try {
      return await work(key);
    } catch (error) {
      observe({ type: "threw", key, error });
      return { type: "failed" };
    }
  };

  const drain = (): Promise<void> => {
    draining ??= new Promise((resolve) => {
      drained = resolve;
      for (const [key, { group }] of waiting) places.quit(group, key);
      waiting.clear();
      for (const { cancel } of later.values()) cancel();
      later.clear();
      if (working.size === 0) resolve();
    });
    return draining;
  };

  return { add, urge, addAfter, drain };
};
