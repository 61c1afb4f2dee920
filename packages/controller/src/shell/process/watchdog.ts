import { type Api, type Clock, systemClock } from "@janus/kube";

/** One loop of the process, or one turn of it. */
export interface Loop {
  /** It works, and says so again within this time, in ms. Default: at once, that is, within the slack. */
  readonly beat: (within?: number) => void;
  /** It has nothing to do, or has ended. */
  readonly rest: () => void;
}

export interface Watchdog {
  /** Does not count before its first beat. */
  readonly loop: (name: string) => Loop;
  /** The loops that are overdue, and for how long. */
  readonly stuck: () => readonly string[];
}

/**
 * Knows which loops have stopped turning, so that the process can be started anew.
 *
 * Guarantees: a loop that waits says for how long, and is not stuck before that time; neither is one at rest.
 *
 * @param slack how late a loop may be in ms: longer than any single request can take. Default: one minute.
 */
export const watchdog = (slack = 60_000, clock: Clock = systemClock): Watchdog => {
  const due = new Map<Loop, { readonly name: string; readonly at: number }>();
  return {
    loop: (name) => {
      const self: Loop = {
        beat: (within = 0) => void due.set(self, { name, at: clock.now() + within }),
        rest: () => void due.delete(self),
      };
      return self;
    },
    stuck: () => {
      const now = clock.now();
      return [...due.values()]
        .filter(({ at }) => now > at + slack)
        .map(({ name, at }) => `${name}: no progress for ${Math.round((now - at) / 1000)} s`);
    },
  };
};

/** The same API server; every answer is a sign of life. */
export const beating = (api: Api, beat: () => void): Api => ({
  watch: api.watch,
  send: (request) => api.send(request).finally(beat),
});
