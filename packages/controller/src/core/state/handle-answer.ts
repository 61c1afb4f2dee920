import * as E from "fp-ts/lib/Either.js";
import type { ApiCall } from "./effect.ts";
import { deniedVerb, isAbsent, classify } from "../kubernetes/api-error.ts";
import type { Instant } from "../kubernetes/time.ts";
import { type Observations, set, unset } from "./observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { afterTransientFault, meaningFor } from "./unserved-kind.ts";
import type { ApiError, KubeObject } from "@janus/types";

/**
 * For how long the controller's own permissions may be denied before anything is concluded from it, in ms: an API server that has
 * just started does not know its roles yet.
 */
export const PATIENCE = 30_000;

const denialOf = ({ purpose, call: { place } }: ApiCall): string => `${purpose} ${formatRef(place)}`;

/** It is the controller itself that lacks the permission: to do this, or to act as the ServiceAccount. */
const isOwnDenial = ({ as }: ApiCall, fault: ApiError): boolean => {
  const verb = deniedVerb(fault);
  return as === "controller" ? verb !== undefined : verb === "impersonate";
};

/** Whether something other than being done, or having nothing to be done to, came of what has to be done. */
const isUndone = ({ untilDone }: ApiCall, fault: ApiError): boolean => {
  if (untilDone === undefined || isAbsent(fault)) return false;
  if (untilDone === "unless-denied") return deniedVerb(fault) === undefined;
  return untilDone === true || classify(fault) === "conflict";
};

/** An answer to a read that is about something else. */
const isVague = ({ call }: ApiCall, fault: ApiError): boolean =>
  call.verb === "get" && fault.type === "refused" && fault.notFound === "other";

export interface HandledAnswer {
  readonly known: Observations;
  /** It did not get through, and is asked again after a pause. */
  readonly failed?: ApiError;
}

/**
 * Folds an answer into what is known.
 *
 * Guarantees: nothing is learned from what says nothing of the request: from a transient fault; from a denial of the
 *             controller's own permissions before it has lasted; from any refusal of what is asked for until it is done.
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
  if (E.isRight(answer)) return { known: effect.onAnswer(granted, answer, now, sent) };
  const fault = answer.left;
  if (meaningFor(effect, fault) === "transient" || isVague(effect, fault) || isUndone(effect, fault))
    return { known: afterTransientFault(known, effect, fault, now), failed: fault };
  if (!isOwnDenial(effect, fault)) return { known: effect.onAnswer(granted, answer, now, sent) };
  const since = known.denied.get(denial) ?? now;
  if (now >= since + PATIENCE) return { known: effect.onAnswer(known, answer, now, sent) };
  return { known: { ...known, denied: set(known.denied, denial, since) }, failed: fault };
};
