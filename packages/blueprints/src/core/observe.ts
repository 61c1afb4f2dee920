// Folds what happened into what is remembered: the one function that does.
import type { Observed, Passed } from "@janus/runtime";
import {
  type ApiError,
  asObject,
  classify,
  type Instant,
  isAbsent,
  isObject,
  isTaken,
  isUnserved,
  type KubeObject,
} from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Effect } from "./effect.ts";
import { decodeJournal } from "./journal.ts";
import { type Answer, type Happened, type KnownJournal, type Memory, withObject } from "./memory.ts";
import { JOURNAL, OWN, QUEUE } from "./requests.ts";
import { isWatchedFact } from "./phase-context.ts";
import { isMisplaced } from "./status-apart.ts";

const known = (secret: KubeObject): KnownJournal => {
  const decoded = decodeJournal(secret);
  if (E.isLeft(decoded)) return { type: "damaged", message: decoded.left };
  const { uid = "", resourceVersion = "" } = secret.metadata;
  return { type: "read", journal: decoded.right, uid, resourceVersion };
};

const withFact = (memory: Memory, fact: string, answer: Answer): Memory => {
  const doubts = new Map(memory.doubts);
  doubts.delete(fact);
  return { ...memory, doubts, facts: new Map(memory.facts).set(fact, answer) };
};

/** The state of a journal that is gone, by who has removed it: this process does so when all is done. */
const GONE = { delete: { type: "removed" }, other: { type: "absent" } } as const satisfies Record<string, KnownJournal>;

/** A conflict says that it is not as it was when it was last read. */
const journalAnswered = (memory: Memory, { request }: Effect, answer: Answer): Observed<Memory> => {
  if (E.isRight(answer)) {
    const journal = request.verb === "delete" ? GONE.delete : known(answer.right);
    return { memory: { ...memory, journal, isKnown: true } };
  }
  if (isAbsent(answer.left)) {
    const journal = request.verb === "delete" ? GONE.delete : GONE.other;
    return { memory: { ...memory, journal, isKnown: true } };
  }
  if (classify(answer.left) === "conflict") return { memory: { ...memory, journal: { type: "unread" } } };
  return { memory, failed: answer.left };
};

/** The trouble of a status that was dropped: it is written again when it is known where the status is. */
const DROPPED: ApiError = {
  type: "unanswered",
  cause: "malformed",
  message:
    "the status that was written is not in the answer: the definition of ActionSets has the status subresource by now",
};

const ownAnswered = (memory: Memory, effect: Effect, answer: Answer, at: Instant): Observed<Memory> => {
  const { request, purpose } = effect;
  if (E.isLeft(answer))
    return classify(answer.left) === "conflict" ? { memory, isStale: true } : { memory, failed: answer.left };
  if (isMisplaced(effect, answer)) return { memory: withObject(memory, answer.right), failed: DROPPED };
  if (request.verb === "delete") return { memory, isStale: true };
  const { status } = asObject("body" in request ? request.body : {});
  // An ActionSet that waits for its turn may wait for long: what it needs is read anew when it begins.
  const facts: Memory["facts"] = purpose === QUEUE ? new Map() : memory.facts;
  const next = { ...withObject(memory, answer.right), facts };
  return { memory: isObject(status) ? { ...next, recorded: status, recordedAt: at } : next };
};

/**
 * Tells whether the answer to a creation says nothing of it: its namespace is not found, or other writers compete for a quota; anything
 * before the API server may say so, too.
 */
const isUncreated = ({ request: { verb } }: Effect, error: ApiError): boolean =>
  verb === "create" && error.type === "refused" && (error.code === 404 || (error.code === 409 && !isTaken(error)));

/** The time for which an answer that does not fit is not believed, in ms: something before the API server may give it. */
const DISBELIEF = 60_000;

/** A conflict for what has no precondition, or an object that is not found, but not the one that was asked for. */
const isUnfit = ({ request }: Effect, error: ApiError): boolean => {
  if (error.type !== "refused" || request.verb === "create") return false;
  if (error.code === 404) return error.notFound === "other";
  const { uid, resourceVersion } = asObject("body" in request ? asObject(request.body)["metadata"] : {});
  const hasPrecondition = request.verb === "delete" || uid !== undefined || resourceVersion !== undefined;
  return error.code === 409 && !hasPrecondition;
};

/** Tells whether it says nothing of the request. */
const isTrouble = (effect: Effect, error: ApiError): boolean =>
  (classify(error) === "transient" && !(effect.mayBeUnserved === true && isUnserved(error))) ||
  isUncreated(effect, error);

/** Tells whether it is not believed yet. */
const isDoubted = (
  { doubts }: Memory,
  { effect, at }: Extract<Happened, { type: "answered" }>,
  error: ApiError,
): boolean => isUnfit(effect, error) && at < (doubts.get(effect.fact) ?? at) + DISBELIEF;

/** Whether a request was sent before a watch told of a change of the same object: it is sent again. */
const isOutdated = ({ changed }: Memory, { effect, sent }: Extract<Happened, { type: "answered" }>): boolean =>
  [...changed].some(([index, at]) => sent <= at && isWatchedFact(effect.fact, index));

/** Folds what happened. Trouble of the API server is retried after a pause: it never fails a phase. */
export const observe = (memory: Memory, happened: Happened | Passed): Observed<Memory> => {
  switch (happened.type) {
    case "answered": {
      const { effect, answer } = happened;
      if (effect.fact === OWN) return ownAnswered(memory, effect, answer, happened.at);
      if (effect.fact === JOURNAL) return journalAnswered(memory, effect, answer);
      if (E.isRight(answer) || !(isTrouble(effect, answer.left) || isDoubted(memory, happened, answer.left)))
        return { memory: isOutdated(memory, happened) ? memory : withFact(memory, effect.fact, answer) };
      const { fact } = effect;
      return {
        memory: {
          ...memory,
          troubles: new Map(memory.troubles).set(fact, answer.left),
          doubts: isUnfit(effect, answer.left)
            ? new Map(memory.doubts).set(fact, memory.doubts.get(fact) ?? happened.at)
            : memory.doubts,
        },
        failed: answer.left,
      };
    }
    case "changed": {
      // Read again: a phase knows what it waits for by this name.
      const facts = new Map(memory.facts);
      for (const key of facts.keys()) if (isWatchedFact(key, happened.index)) facts.delete(key);
      return { memory: { ...memory, facts, changed: new Map(memory.changed).set(happened.index, happened.at) } };
    }
    case "logged":
      return { memory: { ...memory, logs: new Map(memory.logs).set(happened.phase, happened.log) } };
    case "executed":
      return { memory: { ...memory, execs: new Map(memory.execs).set(happened.key, happened.outcome) } };
    case "pausing":
    case "waiting":
      return { memory };
  }
};
