// Opens a WebSocket over a connection to the API server, with the credentials and the TLS of any other request.
import { createHash, randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import * as E from "fp-ts/lib/Either.js";
import type { Dispatcher } from "undici";
import type { ApiError } from "@janus/types";
import type { Request } from "../api/api.ts";
import { exchange, unanswered } from "./http-exchange.ts";
import { replyOf } from "./http-response.ts";
import type { ResponseBudget } from "./response-budget.ts";

/** Of a refusal. */
const MOST_BYTES = 2 ** 20;

/**
 * The socket of a connection that speaks WebSocket (RFC 6455) from now on, in one of the subprotocols.
 *
 * Guarantees: an open socket or an error within `deadline` ms; after an error, no socket is left open. What refuses it is the response
 *             of the API server, as for any other request.
 */
export const openWebSocket = async (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions & { readonly headers: string[] },
  subprotocols: readonly string[],
  deadline: number,
  coming: ResponseBudget,
  request: Request,
): Promise<E.Either<ApiError, Duplex>> => {
  const key = randomBytes(16).toString("base64");
  const handshake = {
    "sec-websocket-key": key,
    "sec-websocket-version": "13",
    "sec-websocket-protocol": subprotocols.join(", "),
  };
  const headers = [...options.headers, ...Object.entries(handshake).flat()];
  const asked = { ...options, headers, upgrade: "websocket" };
  let socket: Duplex | undefined;
  let accepted: Readonly<Record<string, unknown>> = {};
  const reply = await exchange(dispatcher, asked, deadline, coming, MOST_BYTES, (upgraded, headers) => {
    upgraded.on("error", () => {}); // whoever reads it is told, too
    socket = upgraded;
    accepted = headers;
  });
  if (E.isLeft(reply)) return reply;
  if (socket === undefined) {
    const refused = replyOf(reply.right, Date.now(), request);
    return E.isLeft(refused) ? refused : E.left(unanswered("malformed", "a response in place of a WebSocket"));
  }
  const isOurs = accepted["sec-websocket-accept"] === proofOf(key);
  if (isOurs && subprotocols.includes(String(accepted["sec-websocket-protocol"]))) return E.right(socket);
  socket.destroy();
  return E.left(unanswered("malformed", `not one of the WebSockets ${subprotocols.join(", ")}`));
};

/** RFC 6455, 4.2.2 */
const proofOf = (key: string): string =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
