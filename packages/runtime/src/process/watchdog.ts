// Detects loops that have stopped making progress, for the liveness probe.
import { type Api, type Clock, systemClock } from "@janus/kube";

/** A loop of the process, or one round of it. */
export interface Loop {
  /** It makes progress, and the next heartbeat follows within this time, in ms. Default: 0, that is, within the slack. */
  readonly heartbeat: (within?: number) => void;
  /** It is idle, or has ended. */
  readonly rest: () => void;
}

export interface Watchdog {
  /** Not monitored before its first heartbeat. */
  readonly loop: (name: string) => Loop;
  /** The loops that are overdue, and for how long. */
  readonly stuck: () => readonly string[];
}

/**
 * Detects loops that have stopped making progress, so that the process can be restarted.
 *
 * Guarantees: a loop that waits says for how long, and is not stuck before that time; neither is an idle one.
 *
 * @param slack how late a heartbeat may be in ms: longer than any single request can take. Default: one minute.
 */
export const watchdog = (slack = 60_000, clock: Clock = systemClock): Watchdog => {
  const due = new Map<Loop, { readonly name: string; readonly at: number }>();
  return {
    loop: (name) => {
      const self: Loop = {
        heartbeat: (within = 0) => void due.set(self, { name, at: clock.now() + within }),
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

/** The same API server; every response is a heartbeat. */
export const withHeartbeat = (api: Api, heartbeat: () => void): Api => ({
  watch: api.watch,
  send: (request) => api.send(request).finally(heartbeat),
});
