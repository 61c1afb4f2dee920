// Splits writes of ActionSets where their definition has the status subresource, and notices where it is not as it was thought.
import { type ApiError, asObject, isAbsent, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../api/action-set.ts";
import { RUNNING } from "../api/names.ts";
import { hasFinalizer } from "./after-end.ts";
import type { Effect, Step } from "./effect.ts";
import { OWN } from "./requests.ts";

type Patch = Extract<Effect["request"], { readonly verb: "mergePatch" }>;

/** The request, if it writes the status of the ActionSet. */
const statusWrite = ({ fact, request }: Effect): Patch | undefined =>
  fact === OWN && request.verb === "mergePatch" && "status" in request.body ? request : undefined;

/** Whether a patch adds the finalizer that the ActionSet does not have yet. */
const takesUp = (request: Patch, actionSet: ActionSet): boolean => {
  const { finalizers } = asObject(asObject(request.body)["metadata"]);
  return Array.isArray(finalizers) && finalizers.includes(RUNNING) && !hasFinalizer(actionSet);
};

const split = (effect: Effect, actionSet: ActionSet): Effect => {
  const request = statusWrite(effect);
  if (request === undefined) return effect;
  const { metadata = {}, status = {} } = asObject(request.body);
  if (takesUp(request, actionSet)) return { ...effect, request: { ...request, body: { metadata } } };
  const { uid, resourceVersion } = actionSet.metadata;
  return {
    ...effect,
    request: { ...request, subresource: "status", body: { metadata: { uid, resourceVersion }, status } },
  };
};

/**
 * The same step where the status is a subresource: a write of the object drops a status, and one of the status all but that.
 *
 * Guarantees: the finalizer is there before the status says anything, and until it says that the ActionSet has ended: after a crash between
 *             the two it goes on. The other half of a write is decided on by what the first one has left.
 */
export const withStatusApart = (step: Step, actionSet: ActionSet): Step =>
  step.type === "run" ? { ...step, effects: step.effects.map((effect) => split(effect, actionSet)) } : step;

const stateIn = (object: object): unknown => asObject((object as JsonObject)["status"])["state"];

/** Returns whether an answer shows that the definition is not as it was thought: the status was dropped, or nothing is served at its path. */
export const isMisplaced = (effect: Effect, answer: E.Either<ApiError, KubeObject>): boolean => {
  const request = statusWrite(effect);
  if (request === undefined) return false;
  return E.isRight(answer)
    ? stateIn(answer.right) !== stateIn(request.body)
    : request.subresource !== undefined && isAbsent(answer.left);
};
