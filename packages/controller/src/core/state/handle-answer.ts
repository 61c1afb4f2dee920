// Folds the response to a request into the observations, and handles retries and denials.
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall } from "./effect.ts";
import type { Fold } from "./fold.ts";
import type { Answered, Missed } from "./happened.ts";
import { deniedVerb, isAbsent, classify, type ApiError } from "@janus/types";
import { type Observations, set, unset } from "./observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { meaningFor, rediscovered } from "./unserved-kind.ts";

/**
 * How long missing permissions of the controller are treated as transient, in ms: an API server that has just
 * started does not know its roles yet.
 */
export const DENIED_AT_START = 30_000;

const denialOf = ({ purpose, call: { place } }: ApiCall): string => `${purpose} ${formatRef(place)}`;

/** The controller itself lacks the permission: for this request, or to impersonate the ServiceAccount. */
const isControllerDenied = ({ as }: ApiCall, fault: ApiError): boolean => {
  const verb = deniedVerb(fault);
  return as === "controller" ? verb !== undefined : verb === "impersonate";
};

/** Whether a request that has to be done was neither done nor found its object absent. Assumes: the fault is no transient one. */
const isUndone = ({ untilDone }: ApiCall, fault: ApiError): boolean => {
  if (untilDone === undefined || isAbsent(fault)) return false;
  switch (untilDone) {
    case true:
      return true;
    case "unless-denied":
      return deniedVerb(fault) === undefined;
    // What is left is either a conflict or a rejection.
    case "unless-conflict":
      return classify(fault) === "permanent";
    case "unless-refused":
      return classify(fault) === "conflict";
  }
};

/** A response to a read that is about something else than the object: nothing that is read conflicts with anything. */
const isInconclusive = ({ call }: ApiCall, fault: ApiError): boolean =>
  call.verb === "get" && fault.type === "refused" && (fault.notFound === "other" || fault.code === 409);

/** A write of an object of the controller's own meets a conflict. What is to be released or deleted, and is absent, is done. */
const isAuxiliaryConflict = ({ as, call, untilDone }: ApiCall, fault: ApiError): boolean =>
  as === "controller" && call.verb !== "get" && untilDone !== true && classify(fault) === "conflict";

const creation = ({ call: { place } }: ApiCall): string => `create ${formatRef(place)}`;

/** Each snapshot is written under the next name that is free, so their names do not distinguish the writes. */
const writeName = ({ purpose, call: { verb, place } }: ApiCall): string =>
  purpose === "store" ? purpose : `${verb} ${formatRef(place)}`;

/** It is acted on at once. After another one, with no success in between, the next attempt is made after a pause. */
const handleOwnConflict = (
  { conflicted }: Observations,
  effect: ApiCall,
  fault: ApiError,
  after: Observations,
): HandledAnswer => {
  const name = writeName(effect);
  if (conflicted.has(name)) return { known: after, failed: fault };
  return { known: { ...after, conflicted: new Set([...conflicted, name]) } };
};

/** An object that was seen explains why it could not be created; but not why it cannot be written. */
const withoutConflict = (known: Observations, effect: ApiCall): Observations => {
  const explained = [writeName(effect), creation(effect)];
  if (!explained.some((name) => known.conflicted.has(name))) return known;
  return { ...known, conflicted: new Set([...known.conflicted].filter((name) => !explained.includes(name))) };
};

export interface HandledAnswer {
  readonly known: Observations;
  /** It failed: what is decided next is decided after a pause. */
  readonly failed?: ApiError;
}

/** Folds an answer into the observations, one fold after the other. */
export type RunFolds = (known: Observations, folds: readonly Fold[], answered: Answered) => Observations;

export interface Folder {
  readonly run: RunFolds;
  readonly miss: (known: Observations, missed: Missed) => Observations;
}

/**
 * Folds a response into the observations.
 *
 * Guarantees: inconclusive responses change nothing: transient errors, missing permissions of the controller
 *             before the time limit, and any rejection of a request that is retried until it is done.
 */
export const handleAnswer = (known: Observations, answered: Answered, { run, miss }: Folder): HandledAnswer => {
  const { effect, answer, at } = answered;
  const denial = denialOf(effect);
  const granted: Observations = known.denied.has(denial) ? { ...known, denied: unset(known.denied, denial) } : known;
  if (E.isRight(answer)) return { known: withoutConflict(run(granted, effect.folds, answered), effect) };
  const fault = answer.left;
  if (meaningFor(effect, fault) === "transient" || isInconclusive(effect, fault) || isUndone(effect, fault))
    return { known: rediscovered(miss(known, { effect, error: fault, at }), effect, fault), failed: fault };
  if (isAuxiliaryConflict(effect, fault))
    return handleOwnConflict(known, effect, fault, run(granted, effect.folds, answered));
  if (!isControllerDenied(effect, fault)) return { known: run(granted, effect.folds, answered) };
  const since = known.denied.get(denial) ?? at;
  if (at >= since + DENIED_AT_START) return { known: run(known, effect.folds, answered) };
  return { known: { ...known, denied: set(known.denied, denial, since) }, failed: fault };
};
