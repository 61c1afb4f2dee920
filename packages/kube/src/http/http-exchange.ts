// Sends one HTTP request and reads the whole response, within a deadline.
import { StringDecoder } from "node:string_decoder";
import * as E from "fp-ts/lib/Either.js";
import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import { systemClock } from "../api/clock.ts";
import type { ApiError, Unanswered } from "@janus/types";
import type { ResponseBudget } from "./response-budget.ts";
import type { HttpReply } from "./http-response.ts";
import { reasonOf } from "../api/error-reason.ts";

/**
 * Sends one HTTP request and reads the whole response.
 *
 * Guarantees: a response or an error within `deadline` ms. `never-sent` means exactly that: a request that was still waiting for
 * a connection at the deadline is not sent later. After a deadline the connection of the request is closed. A response of more
 * than `mostBytes` is aborted as soon as these have arrived. A connection that is upgraded after the deadline is closed.
 * Never: rejects.
 *
 * @param onUpgrade takes over the connection, if `options` ask for an upgrade: the response is then 101
 */
export const exchange = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  deadline: number,
  inbox: ResponseBudget,
  mostBytes: number,
  onUpgrade?: (socket: Duplex, headers: Readonly<Record<string, unknown>>) => void,
): Promise<E.Either<Unanswered, HttpReply>> =>
  new Promise((resolve) => {
    let sending: Dispatcher.DispatchController | undefined;
    let over = false;
    let status = 0;
    let retryAfter: string | undefined;
    // As text from the start: a buffer of all of it would be memory that the garbage collector does not hurry to free.
    const decoder = new StringDecoder("utf8");
    let body = "";
    let bytes = 0;

    const end = (result: E.Either<Unanswered, HttpReply>) => {
      over = true;
      body = "";
      const ended = sending;
      // Resumes others later: undici throws when one is resumed while it parses another, and neither would ever end.
      if (ended !== undefined) queueMicrotask(() => inbox.ended(ended));
      cancel();
      resolve(result);
    };
    const cancel = systemClock.after(deadline, () => {
      end(
        E.left(
          sending === undefined
            ? unanswered("never-sent", `no connection was free within ${Math.round(deadline)} ms`)
            : unanswered("deadline", `no answer within ${Math.round(deadline)} ms`),
        ),
      );
      sending?.abort(new Error("deadline"));
    });

    dispatcher.dispatch(
      // Without `reset`, undici closes the connection after each DELETE, because of its body, and a new one costs more than
      // the request. That guards against servers that take such a body for another request; API servers read it.
      { ...options, headersTimeout: 0, bodyTimeout: 0, reset: false },
      {
        // Called right before the first byte is written.
        onRequestStart(controller) {
          if (over) controller.abort(new Error("given up"));
          else sending = controller;
        },
        onRequestUpgrade(_, code, headers, socket) {
          if (over || onUpgrade === undefined) {
            socket.destroy();
            return;
          }
          onUpgrade(socket, headers);
          end(E.right({ status: code, retryAfter: undefined, body: "" }));
        },
        onResponseStart(_, code, headers) {
          status = code;
          retryAfter = headers["retry-after"]?.toString();
        },
        onResponseData(controller, chunk) {
          if (over) return;
          bytes += chunk.length;
          if (bytes > mostBytes) {
            end(E.left(unanswered("too-large", `the answer is larger than ${mostBytes} bytes`)));
            controller.abort(new Error("too large"));
            return;
          }
          body += decoder.write(chunk);
          inbox.came(controller, chunk.length);
        },
        onResponseEnd() {
          if (!over) end(E.right({ status, retryAfter, body: body + decoder.end() }));
        },
        onResponseError(_, error) {
          end(E.left(unanswered(sending === undefined ? "never-sent" : "connection", reasonOf(error))));
        },
      },
    );
  });

export const unanswered = (cause: Unanswered["cause"], message: string): Unanswered => ({
  type: "unanswered",
  cause,
  message,
});

/** A response in the server's place; see `Refused`. */
export const unsendable = (message: string): ApiError => ({
  type: "refused",
  code: 400,
  reason: "Unsendable",
  message,
  causes: [],
});
