import * as E from "fp-ts/lib/Either.js";
import type { Api } from "../api/api.ts";
import { type Clock, systemClock } from "../api/clock.ts";
import { unanswered } from "../http/http-exchange.ts";
import { fairTurns } from "./fair-turns.ts";

export interface Sharing {
  /** The most requests in flight, of all groups. Not more than the client has connections. */
  readonly places: number;
  /** How long a request waits for a slot, in ms. Its deadline begins after that. */
  readonly patience: number;
  readonly clock?: Clock;
}

/**
 * Shares one API server among independent groups.
 *
 * Guarantees: requests wait for a slot as in {@link fairTurns}, so that a group whose requests hang does not block the others; a
 *             request that gets no slot in time is never sent, and its error says so. Watches do not wait.
 */
export const sharedApi = (api: Api, { places, patience, clock = systemClock }: Sharing): ((group: string) => Api) => {
  const waiting = fairTurns<() => void>(places);

  const grant = (): void => {
    for (let start = waiting.next(); start !== undefined; start = waiting.next()) start();
  };

  const turn = (group: string): Promise<boolean> =>
    new Promise((resolve) => {
      const start = (): void => {
        cancel();
        resolve(true);
      };
      const cancel = clock.after(patience, () => {
        waiting.quit(group, start);
        resolve(false);
      });
      waiting.join(group, start);
      grant();
    });

  return (group) => ({
    watch: api.watch,
    send: async (request) => {
      if (!(await turn(group))) return E.left(unanswered("never-sent", `its turn did not come within ${patience} ms`));
      try {
        return await api.send(request);
      } finally {
        waiting.leave(group);
        grant();
      }
    },
  });
};
