// Bounds the memory of all responses that are being received.

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

/**
 * Bounds the memory of all responses that are being received: beyond `most` bytes only the one that began first continues, and
 * the others wait in the server's buffers. So every response completes, however many are requested at once.
 */
export const responseBudget = (most: number): ResponseBudget => {
  /** In the order in which they began, with the bytes that have arrived. */
  const coming = new Map<Flow, number>();
  const paused = new Set<Flow>();
  let held = 0;

  const isFirst = (flow: Flow): boolean => coming.keys().next().value === flow;

  return {
    came: (flow, bytes) => {
      coming.set(flow, (coming.get(flow) ?? 0) + bytes);
      held += bytes;
      if (held <= most || isFirst(flow) || paused.has(flow)) return;
      paused.add(flow);
      flow.pause();
    },
    ended: (flow) => {
      held -= coming.get(flow) ?? 0;
      coming.delete(flow);
      paused.delete(flow);
      for (const other of paused)
        if (held <= most || isFirst(other)) {
          paused.delete(other);
          other.resume();
        }
    },
  };
};
