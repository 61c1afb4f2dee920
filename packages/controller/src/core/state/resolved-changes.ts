// The changes with their resolved targets, and the state of one as its steps see it.
import type { ResolvedChange, Transaction } from "@janus/api";
import { takeOver, takeOverBody } from "../merge/take-over.ts";
import { changeBody, createBody, managerOf } from "../merge/write-body.ts";
import type { ApiCall, Call } from "./effect.ts";
import type { Fold } from "./fold.ts";
import { type KubeObject, memoized, memoizedBy } from "@janus/types";
import { type Observations } from "./observations.ts";
import { type ObjectRef } from "../kubernetes/kube-object.ts";
import { resolvedChanges } from "./resolve-apply.ts";
import { resolvedTargets } from "./target-resolution.ts";

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

/**
 * Reads a target as the ServiceAccount. `refused` folds a rejection of the read; also if for a while nothing
 * has served the kind that an earlier change was to create. Default: not at all.
 */
export const readTarget = ({ index, place }: ResolvedItem, refused?: Fold): ApiCall => {
  const also = refused === undefined ? {} : { refused };
  return {
    purpose: "read-target",
    item: index,
    as: "serviceAccount",
    call: { verb: "get", place },
    folds: [{ type: "target-read", ...also }],
    unanswered: [{ type: "target-unread", ...also }],
  };
};

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
