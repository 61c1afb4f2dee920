// Keeps a StatefulSet from deleting PersistentVolumeClaims that existed before.
import { cut, type ResolvedChange, RETRY_ROLLBACK, type Transaction } from "@janus/api";
import { type KubeObject, fromTimestamp, type Instant } from "@janus/types";
import { formatRef } from "../kubernetes/kube-object.ts";
import { claimsOfStatefulSet } from "../kubernetes/stateful-set-claims.ts";
import { entriesOf, isOurs } from "../merge/marks.ts";
import { ownedNames } from "../preflight/dependents.ts";
import { failedListings, nextListing } from "../preflight/unlisted-kinds.ts";
import { rollbackIn } from "../state/observations.ts";
import { conflict, continues, rollbackFailed, type UndoContext, type UndoStep } from "./undo-context.ts";
import { findContents } from "./namespace-contents.ts";

const CLAIMS = "persistentvolumeclaims";

/** When the Transaction has created or changed the object, as far as that is known: a Transaction may wait for days before. */
const changedAt = ({ metadata: { uid }, status }: Transaction, object: KubeObject): Instant => {
  const ours = entriesOf(object).filter((entry) => isOurs(entry, uid));
  const [first = status.startedAt] = ours.flatMap(({ time }) => time ?? []).toSorted();
  return fromTimestamp(first) ?? Number.NEGATIVE_INFINITY;
};

/**
 * Keeps a StatefulSet from being deleted or scaled down by a rollback if, by its retention policy, claims of volumes would go
 * that were there before. A StatefulSet takes over the claims that it finds under its names.
 *
 * Assumes: claims that the ServiceAccount may not list are not seen (see `unseen` in `namespace-contents.ts`).
 *
 * @param restoring what the rollback does to the StatefulSet
 */
export const formerClaims = (undoContext: UndoContext, restoring: ResolvedChange): UndoStep | undefined => {
  const { index, place, seen, context } = undoContext;
  const { txn, known, now } = context;
  const { object } = seen;
  const deleted = object === undefined ? undefined : claimsOfStatefulSet(restoring, object);
  if (object === undefined || deleted === undefined) return undefined;
  const found = rollbackIn(known, index).contents;
  const namespace = place.namespace ?? "";
  if (found === undefined) return continues(findContents(undoContext, { namespace, only: [CLAIMS] }));
  const since = changedAt(txn, object);
  const former = found.owned.filter(
    ({ kind, name, createdAt }) =>
      kind === "PersistentVolumeClaim" &&
      deleted.includes(name) &&
      (fromTimestamp(createdAt) ?? Number.NEGATIVE_INFINITY) < since,
  );
  const remedy = `set spec.persistentVolumeClaimRetentionPolicy to Retain, and retry with the annotation ${RETRY_ROLLBACK}`;
  const what = restoring.type === "Delete" ? "deleted" : "restored";
  if (former.length > 0)
    return conflict(
      `${formatRef(place)} is not ${what}, since PersistentVolumeClaims that are older than its change would be deleted with it (${ownedNames(former, namespace, 60)}): ${remedy}`,
    );
  const again = nextListing(found);
  if (again !== undefined)
    return now < again
      ? { type: "wait", until: again, because: `trying again to list the claims of volumes of ${formatRef(place)}` }
      : continues(findContents(undoContext, { namespace, only: [CLAIMS] }));
  const [unlisted] = failedListings(found.unlisted);
  return unlisted === undefined
    ? undefined
    : rollbackFailed(`${formatRef(place)} is not ${what}: ${CLAIMS} could not be listed (${cut(unlisted.why, 80)})`);
};
