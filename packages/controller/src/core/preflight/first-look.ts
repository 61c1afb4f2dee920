// Reads what is asked before any target is locked: whether those of an Apply or a Replace exist, and the permissions.
import type { Transaction } from "@janus/api";
import type { ApiCall } from "../state/effect.ts";
import type { PreflightFold } from "../state/fold.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { isOpen } from "../state/resolve-apply.ts";
import { reviews } from "./permissions.ts";
import { watchReviews } from "./watch-permissions.ts";
import { itemsOf, readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { isServed } from "../state/unserved-kind.ts";

/** Targets that are read at the same time; each may be as large as an object can be. */
const MOST = 16;

/** Reads whether the target of an Apply or a Replace exists; all else of it is read again under the lock. */
const firstLook = (known: Observations, item: ResolvedItem): ApiCall => {
  const fold: PreflightFold = { type: "existence-read" };
  return { ...readTarget(item, fold), mayBeUnserved: !isServed(known, item.place.resource), folds: [fold] };
};

/** The reads that are still needed to decide whether each Apply, or Replace, is a Create. */
export const firstLooks = (txn: Transaction, known: Observations): readonly ApiCall[] =>
  itemsOf(txn, known)
    .filter(({ index }) => {
      const { preflight, target } = changeIn(known, index);
      const isUnknown = preflight?.existedAtFirst === undefined && target === undefined;
      return isOpen(txn, index) && isUnknown;
    })
    .slice(0, MOST)
    .map((item) => firstLook(known, item));

/** The requests that are still needed before the targets are locked. The permissions of an Apply depend on whether its target exists. */
export const firstReads = (txn: Transaction, known: Observations): readonly ApiCall[] => {
  const looks = firstLooks(txn, known);
  return looks.length > 0 ? looks : [...reviews(itemsOf(txn, known), known), ...watchReviews(txn, known)];
};
