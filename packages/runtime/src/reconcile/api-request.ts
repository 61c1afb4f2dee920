// The simplest effects: single requests to the API server, and how their answers are folded where an object is all that is remembered.
import type { Api, Request } from "@janus/kube";
import { type ApiError, classify, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Observed, Passed } from "./controller.ts";

/** One request, as data: nothing in it is a function. */
export interface ApiRequest {
  /** What it is for, for the log, such as `label`. */
  readonly purpose: string;
  readonly request: Request;
}

/** What the API server has answered, or that it has not. */
export type Answered<Effect> =
  | { readonly type: "answered"; readonly effect: Effect; readonly object: KubeObject }
  | { readonly type: "refused"; readonly effect: Effect; readonly error: ApiError };

/** Sends one request, and tells what was answered. Never rejects. */
export type Send = <Effect extends ApiRequest>(effect: Effect) => Promise<Answered<Effect>>;

export const sendingTo =
  (api: Api): Send =>
  async (effect) => {
    const answer = await api.send({ ...effect.request, purpose: effect.purpose });
    return E.isRight(answer)
      ? { type: "answered", effect, object: answer.right }
      : { type: "refused", effect, error: answer.left };
  };

/**
 * Folds the answers of a controller that remembers nothing but the object that it reconciles: the answer to a write of it is its
 * newest version; after its deletion, or a conflict, it is read again, and after any other error tried again, with growing pauses.
 */
export const observeObject = <Effect extends ApiRequest>(
  object: KubeObject,
  happened: Answered<Effect> | Passed,
): Observed<KubeObject> => {
  if (happened.type === "answered") {
    // The answer to a deletion that is completed is a Status; another object may have been written, too.
    const isIt = happened.object.metadata?.uid === object.metadata.uid;
    if (isIt) return { memory: happened.object };
    return happened.effect.request.verb === "delete" ? { memory: object, isStale: true } : { memory: object };
  }
  if (happened.type !== "refused") return { memory: object };
  return classify(happened.error) === "conflict"
    ? { memory: object, isStale: true }
    : { memory: object, failed: happened.error };
};
