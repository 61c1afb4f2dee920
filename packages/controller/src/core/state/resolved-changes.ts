// The changes with their resolved targets, and the state of one as its steps see it.
import type { ResolvedChange, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { takeOver, takeOverBody } from "../merge/take-over.ts";
import { changeBody, createBody, managerOf } from "../merge/write-body.ts";
import type { ApiCall, Call, Closure } from "./effect.ts";
import { isAbsent, isUnserved, type ApiError, type KubeObject } from "@janus/types";
import { changeIn, type Observations, withChange } from "./observations.ts";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { isTooDeep, TOO_DEEP } from "../kubernetes/nesting.ts";
import { memoized, memoizedBy } from "../kubernetes/memoize.ts";
import { resolvedChanges } from "./resolve-apply.ts";
import { resolvedTargets } from "./target-resolution.ts";
import { isServed } from "./unserved-kind.ts";

export interface ResolvedItem {
  readonly index: number;
  readonly change: ResolvedChange;
  readonly place: ObjectRef;
}

/** The targets are those of one Transaction, of which only what an Apply does may still change. */
const placed = memoized((places: ReadonlyMap<number, ObjectRef>) =>
  memoizedBy(
    (changes: readonly ResolvedChange[]) => changes.map(({ type }) => type).join(),
    (changes): readonly ResolvedItem[] =>
      changes.flatMap((change, index) => {
        const place = places.get(index);
        return place === undefined ? [] : [{ index, change, place }];
      }),
  ),
);

/** All changes whose target can be resolved. */
export const itemsOf = (txn: Transaction, known: Observations): readonly ResolvedItem[] =>
  placed(resolvedTargets(txn, known))(resolvedChanges(txn, known));

/** How long a change is retried whose Namespace, CRD or permissions an earlier change has just brought, in ms. */
export const ENABLING_TIME = 30_000;

/** The API server gives it out, but what cannot be compared can neither be changed nor rolled back. */
const tooDeep = (place: ObjectRef): ApiError => ({
  type: "refused",
  code: 422,
  reason: "",
  message: `${formatRef(place)} ${TOO_DEEP}`,
  causes: [],
});

/**
 * Reads a target as the ServiceAccount. `refused` handles a rejection of the read; also if for a while nothing
 * has served the kind that an earlier change was to create.
 */
export const readTarget = ({ index, place }: ResolvedItem, refused: Closure = (known) => known): ApiCall => ({
  purpose: "read-target",
  item: index,
  as: "serviceAccount",
  call: { verb: "get", place },
  folds: [
    (known, answer, now, sent, inner) => {
      if (E.isRight(answer) && isTooDeep(answer.right)) return refused(known, E.left(tooDeep(place)), now, sent, inner);
      if (E.isRight(answer))
        return withChange(known, index, { target: { type: "read", object: answer.right, at: sent } });
      if (isAbsent(answer.left)) return withChange(known, index, { target: { type: "absent", at: sent } });
      return refused(known, answer, now, sent, inner);
    },
  ],
  unanswered: [
    (known, fault, now, inner) => {
      const unseen = withChange(known, index, { target: undefined });
      if (!isUnserved(fault) || isServed(known, place.resource)) return unseen;
      const { enabling = { since: now } } = changeIn(known, index);
      return now < enabling.since + ENABLING_TIME
        ? withChange(unseen, index, { enabling })
        : refused(unseen, E.left(fault), now, now, inner);
    },
  ],
});

/**
 * The write of a change, with the version that it was decided on as precondition.
 *
 * Assumes: a Replace is made in two steps (`replace-steps.ts`); what is tried out of it is that it can be created.
 *
 * `before` is the target as it was read; absent for a Create. A Delete and a Patch need only its uid and
 * resourceVersion.
 */
export const writeOf = (txn: Transaction, { change, place }: ResolvedItem, before: KubeObject | undefined): Call => {
  const manager = managerOf(change, txn.metadata);
  if (change.type === "Create" || change.type === "Replace" || before === undefined)
    return { verb: "create", place, body: createBody(change, place, txn.metadata), manager };
  switch (change.type) {
    case "Update":
      return { verb: "update", place, body: changeBody(change, place, before, txn.metadata), manager };
    case "Patch": {
      const over = takeOver(change, place, before);
      return over === undefined
        ? { verb: "apply", place, body: changeBody(change, place, before, txn.metadata), manager }
        : { verb: "update", place, body: takeOverBody(change, place, before, txn.metadata, over), manager };
    }
    case "Delete":
      return {
        verb: "delete",
        place,
        preconditions: {
          uid: before.metadata.uid ?? "",
          resourceVersion: before.metadata.resourceVersion ?? "",
        },
      };
  }
};
