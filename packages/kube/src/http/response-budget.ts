/** Of a connection that an answer comes in on; undici's `Dispatcher.DispatchController` is one. */
interface Flow {
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Answers that have begun to come, and are not read yet. */
export interface ResponseBudget {
  /** So many more bytes of an answer have come. */
  readonly came: (flow: Flow, bytes: number) => void;
  /** It is read, or given up. */
  readonly ended: (flow: Flow) => void;
}

/**
 * Bounds what all answers together take before they are read: beyond `most` bytes none but the one that began first comes on, and
 * the others wait in the server's buffers. However many ask at once for however much, an answer comes in the end.
 */
export const responseBudget = (most: number): ResponseBudget => {
  /** In the order in which they began, with what has come of them. */
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
