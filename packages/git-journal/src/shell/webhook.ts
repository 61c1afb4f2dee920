/**
 * Serves HTTPS for the API server, which calls before it writes: tells what was asked, and allows it.
 *
 * Guarantees: the answer is `allowed`, also to what cannot be read, and after it was told; whatever clients send, what is held of it is
 *             bounded.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { boundConnections, defect, type Log } from "@janus/runtime/parts";
import type { JsonObject } from "@janus/types";
import { allowed, HEAD, requestOf, uidIn } from "../core/admission-review.ts";
import { ENTRIES_PATH } from "./entry-feed.ts";
import type { Pair } from "./read-certificates.ts";

/** The most bytes of a review: the object before and after the write, each of which may have 3 MiB in a request. */
const MOST_BYTES = 8 * 2 ** 20;
/** The most bytes of all reviews that are being received. */
const MOST_IN_ALL = 32 * 2 ** 20;

/** The limits for clients: several API servers may each have two hundred writes in flight. */
const LIMITS = { connections: 1024, headerBytes: 8192, arrival: 5000, check: 1000 };
/** The life of an unused connection, in ms: longer than the API server keeps it, which so never calls on one that is closing. */
const KEEP_ALIVE = 120_000;

export interface Webhook {
  readonly port: number;
  /** Gives new connections this certificate; those that there are go on. */
  readonly use: (pair: Pair) => void;
  readonly stop: () => Promise<void>;
}

export interface WebhookOptions {
  /** The port; 0: any free one. */
  readonly port: number;
  readonly pair: Pair;
  /** Whether the API server calls at this path. A call elsewhere is not of the API server: it is allowed, and not told. */
  readonly isCalledAt: (path: string) => boolean;
  /** Takes the request of another replica, with this header Authorization. False: it is not one. */
  readonly isFollowed?: (authorization: string, response: ServerResponse) => boolean;
  /** Told of each AdmissionRequest before it is allowed. */
  readonly record: (request: JsonObject) => void;
  readonly log: Log;
}

const answer = (response: ServerResponse, uid: string): void => {
  const text = allowed(uid);
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
};

export const startWebhook = async ({
  port,
  pair,
  isCalledAt,
  isFollowed = () => false,
  record,
  log,
}: WebhookOptions): Promise<Webhook> => {
  let held = 0;

  const recordSafely = (request: JsonObject): void => {
    try {
      record(request);
    } catch (error) {
      log("error", "internal error: a request was not recorded, and its change has no author", defect(error));
    }
  };

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method === "GET" && request.url === ENTRIES_PATH)
      if (isFollowed(request.headers.authorization ?? "", response)) return;
    const chunks: Buffer[] = [];
    let own = 0;
    let head = "";
    let isKept = true;
    request.on("data", (chunk: Buffer) => {
      if (head.length < HEAD) head += chunk.toString("latin1", 0, HEAD);
      if (!isKept) return;
      own += chunk.length;
      held += chunk.length;
      chunks.push(chunk);
      if (own <= MOST_BYTES && held <= MOST_IN_ALL) return;
      isKept = false;
      forget();
    });
    const forget = (): void => {
      held -= own;
      own = 0;
      chunks.length = 0;
    };
    request.once("close", forget);
    request.once("end", () => {
      const review = isKept ? requestOf(Buffer.concat(chunks).toString()) : undefined;
      const uid = review?.["uid"];
      // The API server says its deadline in the query.
      const [path = ""] = (request.url ?? "").split("?");
      if (review !== undefined && isCalledAt(path)) recordSafely(review);
      if (review === undefined) log("debug", "a review cannot be read: its change has no author", { isKept });
      answer(response, typeof uid === "string" ? uid : uidIn(head));
    });
  };

  const server = createServer(
    {
      cert: pair.certificate,
      key: pair.key,
      maxHeaderSize: LIMITS.headerBytes,
      headersTimeout: LIMITS.arrival,
      requestTimeout: LIMITS.arrival,
      connectionsCheckingInterval: LIMITS.check,
      keepAliveTimeout: KEEP_ALIVE,
    },
    handle,
  );
  boundConnections(server, LIMITS.connections);
  server.listen(port);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    use: ({ certificate, key }) => server.setSecureContext({ cert: certificate, key }),
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), LIMITS.check);
      await closed;
      clearTimeout(late);
    },
  };
};
