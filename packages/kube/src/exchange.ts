import * as E from "fp-ts/lib/Either.js";
import type { Dispatcher } from "undici";
import type { Unanswered } from "./error.ts";
import type { HttpReply } from "./reply.ts";
import { reasonOf } from "./reason.ts";

/**
 * Sends one HTTP request and reads the whole answer.
 *
 * Guarantees: an answer or an error within `deadline` ms. `never-sent` means exactly that: what was still waiting for a
 * connection when time ran out is not sent later. After a deadline the connection it was sent on is gone.
 * Never: rejects.
 */
export const exchange = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  deadline: number,
): Promise<E.Either<Unanswered, HttpReply>> =>
  new Promise((resolve) => {
    let sending: Dispatcher.DispatchController | undefined;
    let over = false;
    let status = 0;
    let retryAfter: string | undefined;
    const chunks: Buffer[] = [];

    const end = (result: E.Either<Unanswered, HttpReply>) => {
      over = true;
      clearTimeout(timer);
      resolve(result);
    };
    const timer = setTimeout(() => {
      end(
        E.left(
          sending === undefined
            ? unanswered("never-sent", `no connection was free within ${Math.round(deadline)} ms`)
            : unanswered("deadline", `no answer within ${Math.round(deadline)} ms`),
        ),
      );
      sending?.abort(new Error("deadline"));
    }, deadline);

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
        onResponseStart(_, code, headers) {
          status = code;
          retryAfter = headers["retry-after"]?.toString();
        },
        onResponseData(_, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          end(E.right({ status, retryAfter, body: Buffer.concat(chunks).toString("utf8") }));
        },
        onResponseError(_, error) {
          end(E.left(unanswered(sending === undefined ? "never-sent" : "connection", reasonOf(error))));
        },
      },
    );
  });

export const unanswered = (cause: Unanswered["cause"], message: string): Unanswered => ({
  kind: "unanswered",
  cause,
  message,
});
