// Bounds the memory of all responses that are being received.
import { type Clock, systemClock } from "../api/clock.ts";

/** Pauses and resumes a response; undici's `Dispatcher.DispatchController` is one. */
interface Flow {
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Responses that are being received. */
export interface ResponseBudget {
  /** More bytes of a response have arrived. */
  readonly came: (flow: Flow, bytes: number) => void;
  /** It is complete, or aborted. */
  readonly ended: (flow: Flow) => void;
}

/** The time after which the others no longer wait for a response of which nothing more arrives, in ms. */
const STALLED_AFTER = 500;

/**
 * Bounds the memory of all responses that are being received: beyond `most` bytes only the one that began first continues, and
 * the others wait in the server's buffers; but not for one that has stalled, which keeps what has arrived of it. So every response
 * that the server sends completes, however many are requested at once.
 */
export const responseBudget = (most: number, clock: Clock = systemClock): ResponseBudget => {
  /** In the order in which they began, with the bytes that have arrived. */
  const coming = new Map<Flow, number>();
  const paused = new Set<Flow>();
  const stalled = new Set<Flow>();
  let held = 0;
  let isWatched = false;
  let hasMoved = false;

  const first = (): Flow | undefined => {
    for (const flow of coming.keys()) if (!stalled.has(flow)) return flow;
    return undefined;
  };

  const resume = (): void => {
    for (const other of paused)
      if (held <= most || other === first()) {
        paused.delete(other);
        other.resume();
      }
  };

  /** Passes over the first one, while others wait for it, each time that nothing more of it has arrived. */
  const watch = (): void => {
    if (isWatched || paused.size === 0) return;
    isWatched = true;
    hasMoved = false;
    clock.after(STALLED_AFTER, () => {
      isWatched = false;
      const flow = first();
      if (!hasMoved && flow !== undefined) stalled.add(flow);
      resume();
      watch();
    });
  };

  return {
    came: (flow, bytes) => {
      coming.set(flow, (coming.get(flow) ?? 0) + bytes);
      held += bytes;
      if (isWatched && flow === first()) hasMoved = true;
      if (held <= most || flow === first() || stalled.has(flow) || paused.has(flow)) return;
      paused.add(flow);
      flow.pause();
      watch();
    },
    ended: (flow) => {
      held -= coming.get(flow) ?? 0;
      coming.delete(flow);
      paused.delete(flow);
      stalled.delete(flow);
      // The next one has had no time to move yet.
      hasMoved = true;
      resume();
    },
  };
};
