// The client: sends requests over shared connections, and checks the responses.
import * as E from "fp-ts/lib/Either.js";
import { answerTo } from "./answer.ts";
import type { Api, Hook, Request, Watch, WatchEvent } from "../api/api.ts";
import type { PodStreams } from "../api/pod-streams.ts";
import type { Connection } from "../auth/credentials.ts";
import type { ApiError, KubeObject } from "@janus/types";
import { exchange, unsendable } from "./http-exchange.ts";
import { responseBudget } from "./response-budget.ts";
import { replyOf } from "./http-response.ts";
import { httpOf } from "./http-request.ts";
import { podStreams } from "./pod-streams.ts";
import { transport } from "./transport.ts";
import { watchEvents } from "./watch.ts";

export interface ConnectOptions {
  /** How long a request may take in ms before its connection is closed. Default: 15000. */
  readonly deadline?: number;
  /** The server's timeout of a write in ms. Less than the deadline, so that its response still arrives. Default: 5000. */
  readonly writeTimeout?: number;
  /** Called around every request and the beginning of each stream, the first one outermost, but not around watches. */
  readonly hooks?: readonly Hook[];
  /** The most connections; each watch uses one. Further requests wait for a free one. Streams of Pods are not counted. Default: 64. */
  readonly connections?: number;
}

export interface Client extends Api, PodStreams {
  /** Closes all connections at once; active requests, watches and streams end with `aborted`. */
  readonly close: () => Promise<void>;
}

type Send = Api["send"];

/** The maximum of one response, in bytes. No object is as large: etcd accepts 1.5 MiB, which is at most six times as much in JSON. */
const MOST_OF_AN_ANSWER = 16 * 2 ** 20;
/** The bytes of all responses being received, beyond which they are received one by one. */
const MOST_COMING = 8 * 2 ** 20;

/** An {@link Api} over connections that are reused. */
export const connect = (connection: Connection, options: ConnectOptions = {}): Client => {
  const { deadline = 15_000, writeTimeout = 5_000, hooks = [], connections = 64 } = options;
  const { route: way, close, isClosed } = transport(connection, connections);
  const streams = transport(connection, null);
  const closing = new AbortController();
  const coming = responseBudget(MOST_COMING);

  const explained = (error: ApiError): ApiError =>
    error.type === "refused"
      ? error
      : {
          ...error,
          ...(isClosed() ? { cause: "aborted" } : {}),
          message: `API server at ${connection.server}: ${error.message}${error.cause === "never-sent" ? " (nothing was sent)" : ""}`,
        };

  const once: Send = async (request) => {
    const http = httpOf(request, writeTimeout);
    if (E.isLeft(http)) return E.left(unsendable(http.left));
    const open = await way(request.deadline ?? deadline);
    if (E.isLeft(open)) return E.left(explained(open.left));
    const { dispatcher, options, left } = open.right;
    const reply = await exchange(dispatcher, options(http.right), left, coming, request.mostBytes ?? MOST_OF_AN_ANSWER);
    const answer = E.isLeft(reply) ? reply : replyOf(reply.right, Date.now(), request);
    return E.mapLeft(explained)(E.chain((object: KubeObject) => answerTo(request, object))(answer));
  };

  const watch = async function* (request: Watch, signal: AbortSignal): AsyncGenerator<E.Either<ApiError, WatchEvent>> {
    const http = httpOf(request, writeTimeout);
    const open = E.isLeft(http) ? E.left(unsendable(http.left)) : await way(request.deadline ?? deadline);
    if (E.isLeft(http) || E.isLeft(open)) {
      if (E.isLeft(open)) yield E.left(explained(open.left));
      return;
    }
    const { dispatcher, options, left } = open.right;
    const limits = { toStart: left, inAll: request.timeoutSeconds * 1000 + deadline };
    for await (const event of watchEvents(dispatcher, options(http.right), limits, signal))
      yield E.mapLeft(explained)(event);
  };

  const around =
    (next: Send, hook: Hook): Send =>
    (request: Request) =>
      hook(request, next);
  const hooked = (send: Send): Send => hooks.reduceRight(around, send);

  return {
    send: hooked(once),
    watch,
    ...podStreams({ way: streams.route, hooked, deadline, coming, explained, closing: closing.signal }),
    close: async () => {
      closing.abort();
      await Promise.all([close(), streams.close()]);
    },
  };
};
