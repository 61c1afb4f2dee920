import * as E from "fp-ts/lib/Either.js";
import type { Api } from "../api/api.ts";
import { type Clock, systemClock } from "../api/clock.ts";
import { unanswered } from "../http/http-exchange.ts";
import { fairTurns } from "./fair-turns.ts";

export interface Sharing {
  /** Requests under way at the same time, of all groups. Not more than the API server's client has connections. */
  readonly places: number;
  /** How long a request waits for its turn, in ms. Its deadline begins after that. */
  readonly patience: number;
  readonly clock?: Clock;
}

/**
 * One API server for groups that know nothing of each other.
 *
 * Guarantees: requests wait for their turn as in {@link fairTurns}, so that a group whose requests hang holds up no other one;
 *             what does not get its turn in time is never sent, and says so. Watches wait for nothing.
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
