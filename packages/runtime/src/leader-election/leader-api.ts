// An Api that sends nothing once the term is over.
import * as E from "fp-ts/lib/Either.js";
import type { Api } from "@janus/kube";
import type { Leader } from "./leader.ts";

/**
 * The API server, for as long as this process leads.
 *
 * Guarantees: nothing is sent in a term that is over or suspended; requests in flight are aborted at the renew deadline, so that
 *             with the server's write timeout they end before another candidate can lead.
 *
 * @param deadline of requests without one, in ms
 */
export const whileLeading = (api: Api, { left }: Pick<Leader, "left">, deadline: number): Api => ({
  watch: api.watch,
  send: async (request) => {
    const most = left();
    if (most > 0) return api.send({ ...request, deadline: Math.min(request.deadline ?? deadline, most) });
    return E.left({ type: "unanswered", cause: "never-sent", message: "not sent: this process does not lead" });
  },
});
