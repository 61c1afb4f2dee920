import * as E from "fp-ts/lib/Either.js";
import type { ApiCall } from "./effect.ts";
import { deniedVerb, isAbsent, classify } from "../kubernetes/api-error.ts";
import type { Instant } from "../kubernetes/time.ts";
import { type Observations, set, unset } from "./observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { afterTransientFault, meaningFor } from "./unserved-kind.ts";
import type { ApiError, KubeObject } from "@janus/types";

/**
 * How long missing permissions of the controller are treated as transient, in ms: an API server that has just
 * started does not know its roles yet.
 */
export const PATIENCE = 30_000;

const denialOf = ({ purpose, call: { place } }: ApiCall): string => `${purpose} ${formatRef(place)}`;

/** The controller itself lacks the permission: for this request, or to impersonate the ServiceAccount. */
const isOwnDenial = ({ as }: ApiCall, fault: ApiError): boolean => {
  const verb = deniedVerb(fault);
  return as === "controller" ? verb !== undefined : verb === "impersonate";
};

/** Whether a request that has to be done was neither done nor found its object absent. */
const isUndone = ({ untilDone }: ApiCall, fault: ApiError): boolean => {
  if (untilDone === undefined || isAbsent(fault)) return false;
  if (untilDone === "unless-denied") return deniedVerb(fault) === undefined;
  return untilDone === true || classify(fault) === (untilDone === "unless-conflict" ? "permanent" : "conflict");
};

/** A response to a read that is about something else than the object: nothing that is read conflicts with anything. */
const isVague = ({ call }: ApiCall, fault: ApiError): boolean =>
  call.verb === "get" && fault.type === "refused" && (fault.notFound === "other" || fault.code === 409);

/** An object of the controller's own is not created, since there is one of its name, or so it is said. */
const isTaken = ({ as, call }: ApiCall, fault: ApiError): boolean =>
  as === "controller" && call.verb === "create" && fault.type === "refused" && fault.code === 409;

/** It was not there when it was looked for. If it is said again that it is, the next attempt is made after a pause. */
const handleTaken = (
  { taken }: Observations,
  { call: { place } }: ApiCall,
  fault: ApiError,
  after: Observations,
): HandledAnswer => {
  const name = formatRef(place);
  return taken.has(name) ? { known: after, failed: fault } : { known: { ...after, taken: new Set([...taken, name]) } };
};

const withoutTaken = (known: Observations, { call: { place } }: ApiCall): Observations => {
  const name = formatRef(place);
  if (!known.taken.has(name)) return known;
  return { ...known, taken: new Set([...known.taken].filter((other) => other !== name)) };
};

export interface HandledAnswer {
  readonly known: Observations;
  /** It failed: what is decided next is decided after a pause. */
  readonly failed?: ApiError;
}

/**
 * Folds a response into the observations.
 *
 * Guarantees: inconclusive responses change nothing: transient errors, missing permissions of the controller
 *             before the time limit, and any rejection of a request that is retried until it is done.
 */
export const handleAnswer = (
  known: Observations,
  effect: ApiCall,
  answer: E.Either<ApiError, KubeObject>,
  now: Instant,
  sent: Instant,
): HandledAnswer => {
  const denial = denialOf(effect);
  const granted: Observations = known.denied.has(denial) ? { ...known, denied: unset(known.denied, denial) } : known;
  if (E.isRight(answer)) return { known: withoutTaken(effect.onAnswer(granted, answer, now, sent), effect) };
  const fault = answer.left;
  if (meaningFor(effect, fault) === "transient" || isVague(effect, fault) || isUndone(effect, fault))
    return { known: afterTransientFault(known, effect, fault, now), failed: fault };
  if (isTaken(effect, fault)) return handleTaken(known, effect, fault, effect.onAnswer(granted, answer, now, sent));
  if (!isOwnDenial(effect, fault)) return { known: effect.onAnswer(granted, answer, now, sent) };
  const since = known.denied.get(denial) ?? now;
  if (now >= since + PATIENCE) return { known: effect.onAnswer(known, answer, now, sent) };
  return { known: { ...known, denied: set(known.denied, denial, since) }, failed: fault };
};
