// Shares the API server fairly among namespaces, with a limit of requests in flight.
import * as E from "fp-ts/lib/Either.js";
import { type Api, type Clock, systemClock, unanswered } from "@janus/kube";
import { fairTurns } from "./fair-turns.ts";

export interface Sharing {
  /** The most requests in flight, of all groups. Not more than the client has connections. */
  readonly places: number;
  /** How long a request waits for a slot, in ms. Its deadline begins after that. */
  readonly patience: number;
  /**
   * Whether a slot stays empty after a request for as long as that took, at most {@link LONGEST_PAUSE}: what is not urgent takes half
   * of the time of an API server at most, and less where it is slow. Default: false.
   */
  readonly pauses?: boolean;
  readonly clock?: Clock;
}

/** Milliseconds. A request that hangs is no work for the API server. */
const LONGEST_PAUSE = 1000;

/**
 * Shares one API server among independent groups.
 *
 * Guarantees: requests wait for a slot as in {@link fairTurns}, so that a group whose requests hang does not block the others; a
 *             request that gets no slot in time is never sent, and its error says so. Watches do not wait.
 */
export const sharedApi = (api: Api, sharing: Sharing): ((group: string) => Api) => {
  const { places, patience, pauses = false, clock = systemClock } = sharing;
  const waiting = fairTurns<() => void>(places);

  const grant = (): void => {
    for (let start = waiting.next(); start !== undefined; start = waiting.next()) start();
  };

  const free = (turn: () => void): void => {
    waiting.leave(turn);
    grant();
  };

  const turnOf = (group: string): Promise<(() => void) | undefined> =>
    new Promise((resolve) => {
      const start = (): void => {
        cancel();
        resolve(start);
      };
      const cancel = clock.after(patience, () => {
        waiting.quit(group, start);
        resolve(undefined);
      });
      waiting.join(group, start);
      grant();
    });

  return (group) => ({
    watch: api.watch,
    send: async (request) => {
      const turn = await turnOf(group);
      if (turn === undefined) return E.left(unanswered("never-sent", `its turn did not come within ${patience} ms`));
      const sent = clock.now();
      try {
        return await api.send(request);
      } finally {
        if (pauses) clock.after(Math.min(clock.now() - sent, LONGEST_PAUSE), () => free(turn));
        else free(turn);
      }
    },
  });
};
