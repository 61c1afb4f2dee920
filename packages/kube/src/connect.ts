import * as E from "fp-ts/lib/Either.js";
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from "undici";
import type { Api, Hook, Request, Watch, WatchEvent } from "./api.ts";
import type { Connection, Credentials } from "./credentials.ts";
import type { ApiError } from "./error.ts";
import { exchange, unanswered } from "./exchange.ts";
import type { KubeObject } from "./object.ts";
import { replyOf } from "./reply.ts";
import { type HttpRequest, httpOf } from "./request.ts";
import { reasonOf } from "./text.ts";
import { watchEvents } from "./watch.ts";

export interface ConnectOptions {
  /** How long a request may take in ms before its connection is closed. Default: 15000. */
  readonly deadline?: number;
  /** How long the server may work on a write in ms. Less than the deadline, so that its answer still comes. Default: 5000. */
  readonly writeTimeout?: number;
  /** Around every request, the first one outermost. Watches do not pass them. */
  readonly hooks?: readonly Hook[];
  /** Connections at most; each watch takes one. Requests beyond wait for one to become free. Default: 64. */
  readonly connections?: number;
}

/**
 * An {@link Api} over keep-alive connections.
 *
 * `close` ends all connections at once; requests and watches that are under way end with `aborted`.
 */
export const connect = (connection: Connection, options: ConnectOptions = {}): Api & { close(): Promise<void> } => {
  const { deadline = 15_000, writeTimeout = 5_000, hooks = [], connections = 64 } = options;
  const transport = transportOf(connection, connections);

  const once = async (request: Request): Promise<E.Either<ApiError, KubeObject>> => {
    const http = httpOf(request, writeTimeout);
    if (E.isLeft(http)) return E.left(unsendable(http.left));
    const open = await transport.open();
    if (E.isLeft(open)) return open;
    const reply = await exchange(open.right.dispatcher, open.right.options(http.right), request.deadline ?? deadline);
    return E.isLeft(reply)
      ? E.left({ ...reply.left, ...transport.explain(reply.left) })
      : replyOf(reply.right, Date.now());
  };

  const watch = async function* (request: Watch, signal: AbortSignal): AsyncGenerator<E.Either<ApiError, WatchEvent>> {
    const http = httpOf(request, writeTimeout);
    const open = E.isLeft(http) ? E.left(unsendable(http.left)) : await transport.open();
    if (E.isLeft(http) || E.isLeft(open)) {
      if (E.isLeft(open)) yield open;
      return;
    }
    const limits = { toStart: request.deadline ?? deadline, inAll: request.timeoutSeconds * 1000 + deadline };
    for await (const event of watchEvents(open.right.dispatcher, open.right.options(http.right), limits, signal))
      yield E.isLeft(event) && event.left.kind === "unanswered"
        ? E.left({ ...event.left, ...transport.explain(event.left) })
        : event;
  };

  return {
    send: hooks.reduceRight<(request: Request) => Promise<E.Either<ApiError, KubeObject>>>(
      (next, hook) => (request) => hook(request, next),
      once,
    ),
    watch,
    close: transport.close,
  };
};

const unsendable = (message: string): ApiError => ({
  kind: "refused",
  code: 400,
  reason: "Unsendable",
  message,
  causes: [],
});

/** Credentials change: headers with each request; for other certificates, new connections are made and the old ones finish. */
const transportOf = (connection: Connection, connections: number) => {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, "");
  let current: { readonly material: string; readonly dispatcher: Dispatcher } | undefined;
  let closed = false;
  const open_ = new Set<Dispatcher>();

  const dispatcherFor = ({ tls }: Credentials): Dispatcher => {
    const material = JSON.stringify(tls);
    if (current?.material !== material) {
      void current?.dispatcher.close();
      current = { material, dispatcher: dispatcherOf(connection.proxy, tls, connections) };
      open_.add(current.dispatcher);
    }
    return current.dispatcher;
  };

  return {
    open: async () => {
      if (closed) return E.left(unanswered("aborted", "the client is closed"));
      try {
        const credentials = await connection.credentials();
        return E.right({
          dispatcher: dispatcherFor(credentials),
          options: ({ method, path, headers, body }: HttpRequest): Dispatcher.DispatchOptions => ({
            origin,
            method,
            path: `${prefix}${path}`,
            headers: [...Object.entries({ "user-agent": "janus", ...credentials.headers }), ...headers].flat(),
            ...(body === undefined ? {} : { body }),
          }),
        });
      } catch (error) {
        return E.left(
          unanswered("never-sent", `no credentials for the API server at ${connection.server}: ${reasonOf(error)}`),
        );
      }
    },
    explain: ({ cause, message }: { readonly cause: string; readonly message: string }) => ({
      ...(closed ? { cause: "aborted" as const } : {}),
      message: `API server at ${connection.server}: ${message}${cause === "never-sent" ? " (nothing was sent)" : ""}`,
    }),
    close: async () => {
      closed = true;
      await Promise.all([...open_].map((dispatcher) => dispatcher.destroy()));
    },
  };
};

/** HTTP/1.1 only: closing a connection then stops one request and no other. */
const dispatcherOf = (proxy: string | undefined, tls: Credentials["tls"], connections: number): Dispatcher => {
  const common = {
    allowH2: false,
    pipelining: 1,
    connections,
    connectTimeout: 10_000,
    // Below the 90 s after which the API server closes an idle connection, and below what load balancers are known for.
    keepAliveTimeout: 30_000,
  };
  const connect = { ...tls, keepAliveInitialDelay: 30_000 };
  if (proxy === undefined) return new Agent({ ...common, connect });
  return proxy.startsWith("socks")
    ? new Socks5ProxyAgent(proxy, { ...common, requestTls: connect })
    : new ProxyAgent({ ...common, uri: proxy, requestTls: connect });
};
