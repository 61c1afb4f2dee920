// A controller with what carries out its effects, and the simplest one: it remembers the object alone, and sends requests.
import type { ObjectMeta } from "@janus/kube";
import type { Instant, KubeObject } from "@janus/types";
import { type Answered, type ApiRequest, observeObject, type Send } from "./reconcile/api-request.ts";
import type { Controller, Passed, Step } from "./reconcile/controller.ts";
import type { Round } from "./reconcile/reconcile-key.ts";
import type { NewEvent } from "./telemetry/events.ts";

/** A controller with what carries out its effects. */
export interface RunnableController<Memory, Effect, Happened> extends Controller<Memory, Effect, Happened> {
  /** The metadata of the object as it is remembered. */
  readonly metadataOf: (memory: Memory) => ObjectMeta;
  /**
   * Carries out an effect, and tells what happened. Must not reject. One that takes longer than a minute calls `round.heartbeat`
   * at least that often: without progress, the liveness probe fails.
   */
  readonly perform: (effect: Effect, send: Send, memory: Memory, round: Round) => Promise<Happened>;
  /**
   * The events on the object that `kubectl describe` shows, after something has happened. A repeated one is one event with a count.
   * Default: none.
   */
  readonly eventsOf?: (before: Memory, happened: Happened | Passed, after: Memory) => readonly NewEvent[];
}

/** A controller that remembers nothing but the object, and sends requests. */
export const objectController = (
  decide: (object: KubeObject, now: Instant) => Step<ApiRequest>,
): RunnableController<KubeObject, ApiRequest, Answered<ApiRequest>> => ({
  remember: (object) => object,
  refresh: (_, object) => object,
  decide: (object, { now }) => decide(object, now),
  observe: observeObject,
  metadataOf: ({ metadata }) => metadata,
  perform: (effect, send) => send(effect),
});
