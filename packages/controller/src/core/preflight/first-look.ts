// Reads whether the target of an Apply or a Replace exists.
import type { Transaction } from "@janus/api";
import { isLeft } from "fp-ts/lib/Either.js";
import type { ApiCall } from "../state/effect.ts";
import { changeIn, type Observations, preflightIn, withChange, withPreflight } from "../state/observations.ts";
import { isOpen } from "../state/resolve-apply.ts";
import { itemsOf, readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { isServed } from "../state/unserved-kind.ts";

/** Targets that are read at the same time; each may be as large as an object can be. */
const MOST = 16;

/** Reads whether the target of an Apply or a Replace exists; all else of it is read again under the lock. */
const firstLook = (txn: Transaction, known: Observations, item: ResolvedItem): ApiCall => {
  const found = (known: Observations, existedAtFirst: boolean): Observations =>
    withPreflight(withChange(known, item.index, { target: undefined }), item.index, { existedAtFirst });
  // What must not be read is reported under the lock, unless an earlier change may bring the permission: then it
  // has to be new.
  const reading = readTarget(item, (known) => found(known, !dependsOnEarlier(txn, item.index)));
  return {
    ...reading,
    mayBeUnserved: !isServed(known, item.place.resource),
    folds: [
      ...reading.folds,
      (known, answer) => {
        return isLeft(answer) && preflightIn(known, item.index).existedAtFirst !== undefined
          ? known
          : found(known, changeIn(known, item.index).target?.object !== undefined);
      },
    ],
  };
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
    .map((item) => firstLook(txn, known, item));
