// Opens the streams of Pods through the hooks of a client.
import * as E from "fp-ts/lib/Either.js";
import type { Dispatcher } from "undici";
import type { ApiError, KubeObject } from "@janus/types";
import type { Api, Request } from "../api/api.ts";
import type { PodStreams } from "../api/pod-streams.ts";
import { execEvents, subprotocolsFor } from "./exec.ts";
import { unanswered, unsendable } from "./http-exchange.ts";
import { openLog } from "./log.ts";
import type { ResponseBudget } from "./response-budget.ts";
import { asCreate, asGet, execParameters, logParameters, type Parameters, streamHttpOf } from "./stream-request.ts";
import type { Transport } from "./transport.ts";
import { openWebSocket } from "./web-socket.ts";

type Stream<A> = AsyncIterable<E.Either<ApiError, A>>;

/** What opens a stream, and with what. */
type Open<A> = (how: {
  readonly dispatcher: Dispatcher;
  readonly options: Dispatcher.DispatchOptions & { readonly headers: string[] };
  /** What is left of the deadline, in ms. */
  readonly left: number;
  readonly asked: Request;
  /** Aborted in the end, whatever ended it. */
  readonly signal: AbortSignal;
}) => Promise<E.Either<ApiError, Stream<A>>>;

/** What a hook is answered with when a stream has begun. */
const BEGUN: KubeObject = { apiVersion: "v1", kind: "Status", metadata: {}, status: "Success" };

/** Of the client whose streams these are. */
interface Surroundings {
  readonly way: Transport["route"];
  readonly hooked: (send: Api["send"]) => Api["send"];
  readonly deadline: number;
  readonly coming: ResponseBudget;
  readonly explained: (error: ApiError) => ApiError;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
}

export const podStreams = (client: Surroundings): PodStreams => {
  const { way, hooked, deadline, coming, explained, closing } = client;

  const stream = async function* <A>(
    request: Request,
    parameters: Parameters,
    open: Open<A>,
    signal: AbortSignal,
  ): AsyncGenerator<E.Either<ApiError, A>> {
    if (signal.aborted) return;
    const over = new AbortController();
    const ending = AbortSignal.any([signal, closing, over.signal]);
    const aborted = new Promise<undefined>((resolve) => {
      signal.addEventListener("abort", () => resolve(undefined), { signal: over.signal });
    });
    let begun: Stream<A> | undefined;

    const send: Api["send"] = async (asked) => {
      const http = streamHttpOf(asked, parameters);
      if (E.isLeft(http)) return E.left(unsendable(http.left));
      const route = await way(asked.deadline ?? deadline);
      if (E.isLeft(route)) return E.left(explained(route.left));
      const { dispatcher, options, left } = route.right;
      const opened = await open({ dispatcher, options: options(http.right), left, asked, signal: ending });
      if (E.isLeft(opened)) return E.left(explained(opened.left));
      begun = opened.right;
      return E.right(BEGUN);
    };

    try {
      const answer = await Promise.race([hooked(send)(request), aborted]);
      if (answer === undefined || signal.aborted) return;
      if (E.isLeft(answer)) yield answer;
      else if (begun === undefined) yield E.left(unanswered("malformed", "a hook has answered in place of a stream"));
      else
        for await (const event of begun) {
          if (signal.aborted) return;
          yield E.mapLeft(explained)(event);
        }
    } finally {
      over.abort();
    }
  };

  return {
    log: (request, signal) =>
      stream(
        asGet(request),
        logParameters(request),
        ({ dispatcher, options, left, asked, signal }) => {
          const limits = request.follow === true ? undefined : { toStart: left, silence: deadline };
          return openLog(dispatcher, options, limits, asked, signal);
        },
        signal,
      ),
    exec: (request, signal) =>
      stream(
        asCreate(request),
        execParameters(request),
        async ({ dispatcher, options, left, asked, signal }) => {
          const subprotocols = subprotocolsFor(request.stdin);
          const opened = await openWebSocket(dispatcher, options, subprotocols, left, coming, asked);
          if (E.isLeft(opened)) return opened;
          const socket = opened.right;
          if (signal.aborted) socket.destroy();
          else signal.addEventListener("abort", () => socket.destroy(), { once: true });
          return E.right(execEvents(socket, request.stdin));
        },
        signal,
      ),
  };
};
