// Sends requests that change nothing again, while the API server has no conclusive answer.
import type { Api, ApiError, KubeObject, Request } from "@janus/kube";
import { classify, isUnserved, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

/** The most times that a request is sent that gets no conclusive answer. */
export const MOST_TRIES = 5;
const PAUSE = 500;

export const pause = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, PAUSE);
  });

/** Codes of a server that is busy, starts or stops, or of a proxy: they say nothing about the request. */
const PASSING = [408, 429, 502, 503, 504];

/** Whether an answer says nothing about the request, and there may be another one soon. */
export const isPassing = (error: ApiError): boolean => error.type === "refused" && PASSING.includes(error.code);

/** The message of the API server, and what to do if it only says that it has no answer. */
export const told = (error: ApiError): string =>
  isPassing(error) ? `${messageOf(error)}; the API server may be overloaded: try again` : messageOf(error);

const isWorthAnother = (error: ApiError): boolean =>
  error.type === "refused" && error.code !== 401 && classify(error) === "transient" && !isUnserved(error);

/**
 * The answer to a request that changes nothing: a read, a dry run or a review.
 *
 * Guarantees: it is sent again, after a pause, while it is answered with nothing that is about it, {@link MOST_TRIES} times in all.
 *             An API server that does not answer at all is asked once.
 */
export const conclusive = async (api: Api, request: Request): Promise<E.Either<ApiError, KubeObject>> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await api.send(request);
    if (E.isRight(answer) || !isWorthAnother(answer.left) || tries >= MOST_TRIES) return answer;
    await pause();
  }
};
