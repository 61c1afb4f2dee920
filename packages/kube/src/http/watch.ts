// Reads the events of one watch.
import * as E from "fp-ts/lib/Either.js";
import type { Dispatcher } from "undici";
import type { WatchEvent } from "../api/api.ts";
import { type ApiError, asObject, isKubeObject, isObject, parseJson } from "@janus/types";
import { unanswered } from "./http-exchange.ts";
import { reasonOf } from "../api/error-reason.ts";
import { ofStatus, replyOf } from "./http-response.ts";

/** In ms: until the server begins to respond, and for the watch as a whole (a dead server sends nothing). */
export interface WatchLimits {
  readonly toStart: number;
  readonly inAll: number;
}

/** One watch: its events, then at most one error. */
export const watchEvents = async function* (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  limits: WatchLimits,
  signal: AbortSignal,
): AsyncGenerator<E.Either<ApiError, WatchEvent>> {
  const late = new AbortController();
  const start = setTimeout(() => late.abort(), limits.toStart);
  const all = setTimeout(() => late.abort(), limits.inAll);
  try {
    const { statusCode, headers, body } = await dispatcher.request({
      ...options,
      headersTimeout: 0,
      bodyTimeout: 0,
      signal: AbortSignal.any([late.signal, signal]),
    });
    clearTimeout(start);
    if (statusCode !== 200) {
      const retryAfter = headers["retry-after"]?.toString();
      const reply = replyOf({ status: statusCode, retryAfter, body: await body.text() }, Date.now());
      yield E.isLeft(reply) ? reply : E.left(unanswered("malformed", `HTTP ${statusCode} to a watch`));
      return;
    }
    for await (const line of linesOf(body)) {
      const event = eventOf(line);
      yield event;
      if (E.isLeft(event)) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    yield E.left(
      late.signal.aborted ? unanswered("deadline", "the watch fell silent") : unanswered("connection", reasonOf(error)),
    );
  } finally {
    clearTimeout(start);
    clearTimeout(all);
  }
};

/** The maximum of one event, in bytes: the same as for a response. */
const LONGEST_LINE = 16 * 2 ** 20;

/** A line may end anywhere in a chunk, and a character may be split over two. Throws if a line is too long. */
const linesOf = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]).toString("utf8");
      rest = [];
      bytes = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > LONGEST_LINE) throw new Error(`an event is larger than ${LONGEST_LINE} bytes`);
  }
};

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes */
export const eventOf = (line: string): E.Either<ApiError, WatchEvent> => {
  const event = parseJson(line);
  const { type, object } = asObject(event);
  if (isKubeObject(object)) {
    const { resourceVersion } = object.metadata;
    if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") return E.right({ type, object });
    if (type === "BOOKMARK" && resourceVersion !== undefined) return E.right({ type, resourceVersion });
  }
  return E.left(
    type === "ERROR" && isObject(object)
      ? ofStatus(object)
      : unanswered("malformed", `what came (${line.length} characters) is no watch event`),
  );
};
