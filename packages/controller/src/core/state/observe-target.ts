// Folds reads of targets into the observations.
import { isUnserved, isAbsent, type ApiError } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { isTooDeep, TOO_DEEP } from "../kubernetes/nesting.ts";
import type { TargetFault, TargetFold } from "./fold.ts";
import type { Faults, Folds } from "./folding.ts";
import { changeIn, withChange } from "./observations.ts";
import { ENABLING_TIME } from "./resolved-changes.ts";
import { isServed } from "./unserved-kind.ts";

/** The API server gives it out, but what cannot be compared can neither be changed nor rolled back. */
const tooDeep = (place: ObjectRef): ApiError => ({
  type: "refused",
  code: 422,
  reason: "",
  message: `${formatRef(place)} ${TOO_DEEP}`,
  causes: [],
});

export const targetFolds: Folds<TargetFold> = {
  "target-read": (known, { refused }, answered, { run }) => {
    const { effect, answer, sent } = answered;
    const { item: index = -1, call } = effect;
    const because = refused === undefined ? [] : [refused];
    if (E.isRight(answer))
      return isTooDeep(answer.right)
        ? run(known, because, { ...answered, answer: E.left(tooDeep(call.place)) })
        : withChange(known, index, { target: { type: "read", object: answer.right, at: sent } });
    return isAbsent(answer.left)
      ? withChange(known, index, { target: { type: "absent", at: sent } })
      : run(known, because, answered);
  },
};

export const targetFaults: Faults<TargetFault> = {
  "target-unread": (known, { refused }, { effect, error, at }, { run }) => {
    if (!("call" in effect)) return known;
    const { item: index = -1, call } = effect;
    const unseen = withChange(known, index, { target: undefined });
    if (!isUnserved(error) || isServed(known, call.place.resource)) return unseen;
    const { enabling = { since: at } } = changeIn(known, index);
    if (at < enabling.since + ENABLING_TIME) return withChange(unseen, index, { enabling });
    return refused === undefined
      ? unseen
      : run(unseen, [refused], { type: "answered", effect, answer: E.left(error), sent: at, at });
  },
};
