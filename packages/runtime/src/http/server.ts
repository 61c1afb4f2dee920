// Serves /metrics, /healthz, /readyz and /status.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { boundConnections } from "./bound-connections.ts";
import type { Access } from "./metrics-auth.ts";

/** The bounds of what clients may take. */
export interface HttpLimits {
  /** The most connections that are open at once. */
  readonly connections: number;
  /** The header of a request, in bytes. */
  readonly headerBytes: number;
  /** How long a request may take to arrive, in ms. */
  readonly arrival: number;
  /** How often that is checked, in ms. */
  readonly check: number;
}

/** The answers of the server. */
export interface Answers {
  /** The loops of the process that make no progress. */
  readonly stuck: () => readonly string[];
  /** Why it is not ready: it neither reconciles, nor could take over at once; undefined when it is. */
  readonly unready: () => string | undefined;
  /** Metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
  /** Authorizes a request for metrics by its Authorization header. Default: every request. */
  readonly maySeeMetrics?: (authorization: string | undefined) => Promise<Access>;
  /** The status of the process, as JSON. */
  readonly status: () => object;
  /** The leader, for messages; undefined when it is this process. */
  readonly leaderElsewhere: () => string | undefined;
  /** Seconds after which another one may lead. */
  readonly retryAfter: number;
  /** How to do instead what no path accepts, for messages. */
  readonly instead: string;
}

// Imported as an ECMAScript module, it would load all that Node has for HTTP, a second client included: 12 MiB.
const { createServer } = process.getBuiltinModule("node:http");

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS = "text/plain; version=0.0.4; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";

interface Reply {
  readonly code: number;
  readonly text: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ok: Reply = { code: 200, text: "ok\n" };

const REFUSALS: Readonly<Record<Exclude<Access, "allowed">, Reply>> = {
  unauthenticated: {
    code: 401,
    text: "authentication required: send a token of the cluster as Authorization: Bearer <token>\n",
    headers: { "www-authenticate": "Bearer" },
  },
  forbidden: {
    code: 403,
    text: "forbidden: the user of this token may not get the path /metrics: bind it to a ClusterRole that allows it\n",
  },
  unknown: {
    code: 503,
    text: "the API server could not review this token\n",
    headers: { "retry-after": "5" },
  },
};

const metricsFor = async (authorization: string | undefined, answers: Answers): Promise<Reply> => {
  const verdict = (await answers.maySeeMetrics?.(authorization)) ?? "allowed";
  return verdict === "allowed" ? { code: 200, text: await answers.metrics(), type: METRICS } : REFUSALS[verdict];
};

const reply = async ({ method, url = "", headers }: IncomingMessage, answers: Answers): Promise<Reply> => {
  if (method !== "GET" && method !== "HEAD") return changing(answers);
  const [path = ""] = url.split("?");
  switch (path) {
    case "/healthz": {
      const stuck = answers.stuck();
      return stuck.length === 0 ? ok : { code: 500, text: `stuck: ${stuck.join("; ")}\n` };
    }
    case "/readyz": {
      const why = answers.unready();
      return why === undefined ? ok : { code: 503, text: `not ready: ${why}\n` };
    }
    case "/status":
      return { code: 200, text: `${JSON.stringify(answers.status())}\n`, type: "application/json" };
    case "/metrics":
      return metricsFor(headers.authorization, answers);
    default:
      return { code: 404, text: "try /healthz, /readyz, /status or /metrics\n" };
  }
};

/** No path accepts writes; a standby names the leader in its response. */
const changing = ({ leaderElsewhere, retryAfter, instead }: Answers): Reply => {
  const leader = leaderElsewhere();
  return leader === undefined
    ? {
        code: 405,
        text: `method not allowed: ${instead}\n`,
        headers: { allow: "GET, HEAD" },
      }
    : {
        code: 503,
        text: `not the leader; the leader is ${leader}\n`,
        headers: { "retry-after": `${retryAfter}` },
      };
};

const answer = async (request: IncomingMessage, response: ServerResponse, answers: Answers): Promise<void> => {
  const {
    code,
    text,
    type = TEXT,
    headers = {},
  } = await reply(request, answers).catch((error: unknown): Reply => ({ code: 500, text: `${String(error)}\n` }));
  response.writeHead(code, { ...headers, "content-type": type, connection: "close" }).end(text);
};

/**
 * `/healthz`, `/readyz`, `/status` and `/metrics`. Port 0: any free port.
 *
 * Guarantees: whatever clients send, or do not read, it has at most so many connections as `limits` says, with one
 *             request in each; a new one is always accepted.
 */
export const serve = async (port: number, answers: Answers, limits: HttpLimits): Promise<Server> => {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.arrival,
      requestTimeout: limits.arrival,
      connectionsCheckingInterval: limits.check,
    },
    (request, response) => void answer(request, response, answers),
  );
  // Whoever sends more requests before the response is read gets no more of them.
  server.maxRequestsPerSocket = 1;
  server.on("dropRequest", (_, socket) => socket.destroy());
  boundConnections(server, limits.connections);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, () => resolve());
  await promise;
  return server;
};
