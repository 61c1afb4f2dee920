// Folds reads of the owners of targets into the observations.
import { isAbsent } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { OwnerFold } from "./fold.ts";
import type { Folds } from "./folding.ts";
import { changeIn, set, withChange } from "./observations.ts";

export const ownerFolds: Folds<OwnerFold> = {
  "owner-read": (known, { uid }, { effect: { item: index = -1 }, answer, sent }) => {
    const isThere = E.isRight(answer) && answer.right.metadata.uid === uid;
    const isUnknown = E.isLeft(answer) && !isAbsent(answer.left);
    const is = isUnknown ? "unknown" : isThere ? "there" : "gone";
    return withChange(known, index, {
      owners: set(changeIn(known, index).owners ?? new Map(), uid, { is, readAt: sent }),
    });
  },
};
