// Opens the log of a container, and reads it.
import * as E from "fp-ts/lib/Either.js";
import type { Dispatcher } from "undici";
import type { ApiError } from "@janus/types";
import type { Request } from "../api/api.ts";
import { reasonOf } from "../api/error-reason.ts";
import { unanswered } from "./http-exchange.ts";
import { replyOf } from "./http-response.ts";

/** In ms: until the server begins to respond, and between two chunks. */
export interface LogLimits {
  readonly toStart: number;
  readonly silence: number;
}

/** The log from the moment when the server responds: its chunks, then at most one error. @param limits undefined: it is waited for as long as it takes */
export const openLog = async (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  limits: LogLimits | undefined,
  request: Request,
  signal: AbortSignal,
): Promise<E.Either<ApiError, AsyncIterable<E.Either<ApiError, Buffer>>>> => {
  const late = new AbortController();
  const start = limits === undefined ? undefined : setTimeout(() => late.abort(), limits.toStart);
  try {
    const response = await dispatcher.request({
      ...options,
      headersTimeout: 0,
      bodyTimeout: limits?.silence ?? 0,
      signal: AbortSignal.any([late.signal, signal]),
    });
    clearTimeout(start);
    const { statusCode: status, headers, body } = response;
    if (status === 200) return E.right(chunksOf(body));
    const retryAfter = headers["retry-after"]?.toString();
    const reply = replyOf({ status, retryAfter, body: await body.text() }, Date.now(), request);
    return E.isLeft(reply) ? reply : E.left(unanswered("malformed", `HTTP ${status} to a log`));
  } catch (error) {
    clearTimeout(start);
    return E.left(late.signal.aborted ? unanswered("deadline", "the log did not begin") : unansweredBy(error));
  }
};

const chunksOf = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<E.Either<ApiError, Buffer>> {
  try {
    for await (const chunk of body) yield E.right(chunk);
  } catch (error) {
    yield E.left(unansweredBy(error));
  }
};

const unansweredBy = (error: unknown): ApiError => {
  const isSilent = error instanceof Error && "code" in error && error.code === "UND_ERR_BODY_TIMEOUT";
  return isSilent ? unanswered("deadline", "the log fell silent") : unanswered("connection", reasonOf(error));
};
