import type { Clock } from "@janus/kube";

/** A clock that moves when it is told to. */
export const manualClock = (): Clock & {
  readonly pass: (ms: number) => Promise<void>;
  readonly planned: () => number;
} => {
  let now = 0;
  const timers = new Set<{ readonly due: number; readonly run: () => void }>();
  return {
    now: () => now,
    after: (ms, run) => {
      const timer = { due: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    planned: () => timers.size,
    /** Everything that is due runs in its order, and what follows from it, before this resolves. */
    pass: async (ms) => {
      const until = now + ms;
      await settled();
      for (;;) {
        const [next] = [...timers].filter(({ due }) => due <= until).toSorted((a, b) => a.due - b.due);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.due);
        next.run();
        await settled();
      }
      now = until;
    },
  };
};

/** All promises that can go on have gone on. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
