import type { Api, Request, Term } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { FENCED } from "../core/index.ts";

const isWrite = ({ verb }: Request): boolean => verb !== "get" && verb !== "list" && verb !== "raw";

/** The request as of this term: a write to a target, which is impersonated, bears a token of it. */
export const bearing = (token: string, request: Request): Request =>
  request.as === undefined || !isWrite(request)
    ? request
    : { ...request, as: { ...request.as, extra: { ...request.as.extra, [FENCED]: token } } };

export const tokenOf = ({ holder, transitions }: Term): string => `${holder}/${transitions}`;

/** Not the 403 of somebody who may not bear a token at all, which names it too. */
export const isFenced = (answer: Awaited<ReturnType<Api["send"]>>): boolean =>
  E.isLeft(answer) &&
  answer.left.kind === "refused" &&
  answer.left.code === 422 &&
  answer.left.message.includes(FENCED);

/**
 * The API server, for one term of leading. The admission policy that is installed along with the controller refuses writes
 * to targets in a term that is over.
 *
 * @param isStale whether the policy compares with a Lease of long ago: then it would refuse everything, and nothing is fenced
 * @param onRefused the policy says that the term is over
 */
export const fenced = (api: Api, term: Term, isStale: () => boolean, onRefused: () => void): Api => ({
  watch: api.watch,
  send: async (request) => {
    const answer = await api.send(isStale() ? request : bearing(tokenOf(term), request));
    if (isFenced(answer)) onRefused();
    return answer;
  },
});
