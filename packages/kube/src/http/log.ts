// Opens the log of a container, and reads it.
import * as E from "fp-ts/lib/Either.js";
import type { Dispatcher } from "undici";
import type { ApiError } from "@janus/types";
import type { Request } from "../api/api.ts";
import { reasonOf } from "../api/error-reason.ts";
import { unanswered } from "./http-exchange.ts";
import { replyOf } from "./http-response.ts";

/** In ms, or 0 for none: until the server begins to respond, and between two chunks. */
export interface LogLimits {
  readonly toStart: number;
  readonly silence: number;
}

/** The log from the moment when the server responds: its chunks, then at most one error. */
export const openLog = async (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { toStart, silence }: LogLimits,
  request: Request,
  signal: AbortSignal,
): Promise<E.Either<ApiError, AsyncIterable<E.Either<ApiError, Buffer>>>> => {
  try {
    const response = await dispatcher.request({ ...options, headersTimeout: toStart, bodyTimeout: silence, signal });
    const { statusCode: status, headers, body } = response;
    if (status === 200) return E.right(chunksOf(body));
    const retryAfter = headers["retry-after"]?.toString();
    const reply = replyOf({ status, retryAfter, body: await body.text() }, Date.now(), request);
    return E.isLeft(reply) ? reply : E.left(unanswered("malformed", `HTTP ${status} to a log`));
  } catch (error) {
    return E.left(unansweredBy(error));
  }
};

const chunksOf = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<E.Either<ApiError, Buffer>> {
  try {
    for await (const chunk of body) yield E.right(chunk);
  } catch (error) {
    yield E.left(unansweredBy(error));
  }
};

const TIMEOUTS = ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];

const unansweredBy = (error: unknown): ApiError => {
  const isLate = error instanceof Error && "code" in error && TIMEOUTS.includes(String(error.code));
  return isLate ? unanswered("deadline", "the log fell silent") : unanswered("connection", reasonOf(error));
};
