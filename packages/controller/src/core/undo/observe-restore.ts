// Folds the answers to requests of a rollback into the observations.
import { classify, equal, isAbsent, messageOf, type ApiError, type Instant, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { restoration } from "../merge/restore-update.ts";
import { withServerMutations } from "../merge/server-mutations.ts";
import type { ApiCall } from "../state/effect.ts";
import type { Insistent, Restored, RestoreFault, RestoreFold } from "../state/fold.ts";
import type { Faults, Folds } from "../state/folding.ts";
import type { About, Answered } from "../state/happened.ts";
import { exceedsMemory, trimmed } from "../state/memory-budget.ts";
import { changeIn, type Observations, rollbackIn, unset, withChange, withRollback } from "../state/observations.ts";
import { attempt } from "../state/retry-status.ts";
import { takenOf, withoutAllocations } from "./service-allocations.ts";

const lookAgain = (known: Observations, index: number): Observations => withChange(known, index, { target: undefined });

const noted = (known: Observations, index: number, place: ObjectRef, fault: ApiError, at: Instant): Observations =>
  withRollback(known, index, {
    refusal: { why: `${formatRef(place)}: the API server refuses to roll it back: ${messageOf(fault)}`, at },
  });

const accepted = (known: Observations, fold: Restored, { effect, sent }: Answered, live: KubeObject): Observations => {
  const { item: index = -1, call } = effect;
  if (call.verb === "delete") return lookAgain(known, index);
  const seen = withChange(known, index, { target: { type: "read", object: live, at: sent } });
  const { goal, edit } = fold;
  if (goal === undefined || !("body" in call)) return seen;
  // A lost race says nothing of the fields that are restored: another client may write the status all the time.
  return withRollback(seen, index, {
    goal: withServerMutations(goal, call.body, live, call.place),
    ...(edit === undefined ? {} : { puts: edit.puts + 1, goalAt: sent }),
  });
};

/** If another Service has an allocation, that is remembered, to restore this one without it. Undefined if there is nothing like it. */
const withoutTaken = (
  known: Observations,
  { goal, edit }: Restored,
  { effect: { item: index = -1, call } }: Answered,
  fault: ApiError,
): Observations | undefined => {
  const { taken: former = [] } = rollbackIn(known, index);
  const taken = call.verb === "create" || edit !== undefined ? takenOf(call.place.resource, fault) : undefined;
  if (taken === undefined || former.includes(taken)) return undefined;
  return withRollback(known, index, {
    taken: [...former, taken],
    ...(edit === undefined || goal === undefined ? {} : { goal: withoutAllocations(goal, [taken]) }),
  });
};

/** Forgets the goal of an object that is created again: the API server may have made more of it. Of an edited one, the next PUT tells. */
const unanswered = (known: Observations, { item: index = -1, folds }: ApiCall): Observations => {
  const isRecreated = folds.some(
    (fold) => fold.type === "restored" && fold.goal !== undefined && fold.edit === undefined,
  );
  const seen = lookAgain(known, index);
  return isRecreated ? withRollback(seen, index, { goal: undefined }) : seen;
};

const isInvalid = (fault: ApiError): boolean => fault.type === "refused" && fault.code === 422;

/** Whether the PUT would be another one if it yielded to other clients. */
const mayYield = ({ change, former, live, put }: Insistent, { effect: { call } }: Answered, { txn }: About): boolean =>
  !equal(restoration(change, call.place, former, live, txn.metadata, true).put, put);

const rejected = (
  known: Observations,
  fold: Restored,
  answered: Answered,
  fault: ApiError,
  about: About,
): Observations => {
  const { effect, at } = answered;
  const { item: index = -1, call } = effect;
  const { resourceVersion, blamed, edit } = fold;
  const reduced = withoutTaken(known, fold, answered, fault);
  if (reduced !== undefined) return reduced;
  if (isInvalid(fault) && edit?.insists !== undefined && mayYield(edit.insists, answered, about))
    return withRollback(known, index, { yieldsToOthers: true });
  if (classify(fault) !== "conflict") return noted(known, blamed, call.place, fault, at);
  return withChange(known, index, {
    target: undefined,
    unchangedConflict: { at, message: messageOf(fault), resourceVersion },
  });
};

export const restoreFolds: Folds<RestoreFold> = {
  restored: (known, fold, answered, about) =>
    E.isRight(answered.answer)
      ? accepted(known, fold, answered, answered.answer.right)
      : rejected(known, fold, answered, answered.answer.left, about),
  "rollback-refused": (known, { index, place }, { answer, at }) =>
    E.isRight(answer) ? known : noted(known, index, place, answer.left, at),
  "refusal-cleared": (known, { index }) => withRollback(known, index, { refusal: undefined }),
  "item-restored": (known, { isBehind, isDelete }, { answer, sent }) => {
    if (E.isLeft(answer)) return known;
    // What a Delete has taken away, and is there again, may be adopted.
    return {
      ...known,
      restoredAt: sent,
      ...(isBehind ? {} : { admissionAt: sent }),
      ...(isDelete ? { adoptable: undefined } : {}),
    };
  },
  "restored-in-window": (known, { index }, { at }) =>
    trimmed({
      ...withChange(known, index, { target: undefined, rollback: { restoredAt: at } }),
      restoredAt: at,
      admissionAt: at,
    }),
  "storage-read": (known, _, { effect: { item: index = -1 }, answer, at: readAt }) => {
    const fault = E.isLeft(answer) && !isAbsent(answer.left) ? messageOf(answer.left) : undefined;
    const object = E.isRight(answer) ? answer.right : undefined;
    const { storage: former } = rollbackIn(known, index);
    const since = former?.fault === undefined ? readAt : former.since;
    return withRollback(known, index, { storage: { readAt, since, object, fault } });
  },
  "target-unseen": (known, _, { effect: { item: index = -1 }, answer }) =>
    E.isRight(answer) ? known : withRollback(known, index, { unseen: messageOf(answer.left) }),
  // There may be many stores to read: what is of no use goes at once if they are large.
  "owner-sought": (known, { index, owner }, { effect: { call } }) => {
    const isOwned = changeIn(known, index).ownersBefore?.includes(owner) ?? true;
    const { resource, name } = call.place;
    return isOwned || !exceedsMemory(known.storeData)
      ? known
      : { ...known, storeData: unset(known.storeData, `${resource.kind}/${name}`) };
  },
};

export const restoreFaults: Faults<RestoreFault> = {
  "maybe-restored": (known, _, { effect }) => ("call" in effect ? unanswered(known, effect) : known),
  "rollback-unanswered": (known, { index }, { effect, error, at }) => {
    const count = (rollbackIn(known, index).failedAttempt?.count ?? 0) + 1;
    const message = `trying again to ${attempt(effect)}: ${messageOf(error)}`;
    return withRollback(known, index, { failedAttempt: { at, count, message } });
  },
};
