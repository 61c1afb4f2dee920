// Keeps connections to an API server, with its current credentials.
import * as E from "fp-ts/lib/Either.js";
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from "undici";
import { resettingConnector } from "./resetting-connector.ts";
import type { Connection, Credentials, TlsOptions } from "../auth/credentials.ts";
import type { Unanswered } from "@janus/types";
import { unanswered } from "./http-exchange.ts";
import type { HttpRequest } from "./http-request.ts";
import { reasonOf } from "../api/error-reason.ts";

/** How a request is sent. */
export interface Route {
  readonly dispatcher: Dispatcher;
  readonly options: (request: HttpRequest) => Dispatcher.DispatchOptions & { readonly headers: string[] };
  /** What is left of the deadline, in ms. */
  readonly left: number;
}

export interface Transport {
  readonly route: (deadline: number) => Promise<E.Either<Unanswered, Route>>;
  readonly isClosed: () => boolean;
  readonly close: () => Promise<void>;
}

/**
 * Connections to an API server, with the current credentials: headers are set for each request; if the certificates change, new
 * connections are opened, and the old ones are closed when they have no requests in flight.
 *
 * @param connections the most of them; null: as many as there are requests
 */
export const transport = (connection: Connection, connections: number | null): Transport => {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, "");
  const dispatchers = new Set<Dispatcher>();
  let current: { readonly material: string; readonly dispatcher: Dispatcher } | undefined;
  let asking: Promise<Credentials> | undefined;
  let closed = false;

  const dispatcherFor = (tls: TlsOptions): Dispatcher => {
    const { ca, cert, key, ...rest } = tls;
    const material = [ca, cert, key, JSON.stringify(rest)].map(String).join();
    if (current?.material === material) return current.dispatcher;
    const outdated = current?.dispatcher;
    if (outdated !== undefined) void outdated.close().then(() => dispatchers.delete(outdated));
    const dispatcher = dispatcherOf(connection.proxy, tls, connections);
    dispatchers.add(dispatcher);
    current = { material, dispatcher };
    return dispatcher;
  };

  /** An exec plugin is not run twice at the same time, and may take long. */
  const credentials = async (deadline: number): Promise<Credentials> => {
    asking ??= connection.credentials().finally(() => (asking = undefined));
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`they did not come within ${deadline} ms`)), deadline);
    return await Promise.race([asking, late.promise]).finally(() => clearTimeout(timer));
  };

  return {
    route: async (deadline) => {
      const began = performance.now();
      try {
        const { headers: own, tls } = await credentials(deadline);
        if (closed) return E.left(unanswered("aborted", "the client is closed"));
        return E.right({
          dispatcher: dispatcherFor(tls),
          left: Math.max(1, deadline - (performance.now() - began)),
          options: ({ method, path, headers, body }) => {
            const asked = new Set(headers.map(([name]) => name));
            const mine = Object.entries({ "user-agent": "janus", ...own }).filter(([name]) => !asked.has(name));
            return {
              origin,
              method,
              path: `${prefix}${path}`,
              headers: [...mine, ...headers].flat(),
              ...(body === undefined ? {} : { body }),
            };
          },
        });
      } catch (error) {
        return E.left(unanswered("never-sent", `no credentials: ${reasonOf(error)}`));
      }
    },
    isClosed: () => closed,
    close: async () => {
      closed = true;
      await Promise.all([...dispatchers].map((dispatcher) => dispatcher.destroy()));
    },
  };
};

/** HTTP/1.1 only: closing a connection then aborts one request and no other. */
const dispatcherOf = (proxy: string | undefined, tls: TlsOptions, connections: number | null): Dispatcher => {
  const common = {
    allowH2: false,
    pipelining: 1,
    connections,
    // Below the 90 s after which the API server closes an idle connection, and below the usual timeouts of load balancers.
    keepAliveTimeout: 30_000,
  };
  const options = { ...tls, allowH2: false, timeout: 10_000, keepAliveInitialDelay: 30_000 };
  if (proxy === undefined) return new Agent({ ...common, connect: resettingConnector(options) });
  return proxy.startsWith("socks")
    ? new Socks5ProxyAgent(proxy, { ...common, requestTls: options })
    : new ProxyAgent({ ...common, uri: proxy, requestTls: options });
};
