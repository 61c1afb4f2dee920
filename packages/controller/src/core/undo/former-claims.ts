import { cut, type ResolvedChange, RETRY_ROLLBACK } from "@janus/api";
import { formatRef } from "../kubernetes/kube-object.ts";
import { claimsOfStatefulSet } from "../kubernetes/stateful-set-claims.ts";
import { fromTimestamp } from "../kubernetes/time.ts";
import { ownedNames } from "../preflight/dependents.ts";
import { failedListings, nextListing } from "../preflight/unlisted-kinds.ts";
import { rollbackIn } from "../state/observations.ts";
import { conflict, continues, rollbackFailed, type UndoContext, type UndoStep } from "./undo-context.ts";
import { findContents } from "./namespace-contents.ts";

const CLAIMS = "persistentvolumeclaims";

/**
 * What keeps a StatefulSet from being deleted or scaled down by a rollback: by its retention policy, claims of volumes would
 * go that were there before the Transaction. A StatefulSet takes over the claims that it finds under its names.
 *
 * Assumes: claims that the ServiceAccount may not list are not seen (see `unseen` in `namespace-contents.ts`).
 *
 * @param restoring what the rollback does to the StatefulSet
 */
export const formerClaims = (undoContext: UndoContext, restoring: ResolvedChange): UndoStep | undefined => {
  const { index, place, seen, context } = undoContext;
  const { txn, known, now } = context;
  const deleted = seen.object === undefined ? undefined : claimsOfStatefulSet(restoring, seen.object);
  if (deleted === undefined) return undefined;
  const found = rollbackIn(known, index).contents;
  const namespace = place.namespace ?? "";
  if (found === undefined) return continues(findContents(undoContext, { namespace, only: [CLAIMS] }));
  const began = fromTimestamp(txn.metadata.creationTimestamp) ?? Number.NEGATIVE_INFINITY;
  const former = found.owned.filter(
    ({ kind, name, createdAt }) =>
      kind === "PersistentVolumeClaim" &&
      deleted.includes(name) &&
      (fromTimestamp(createdAt) ?? Number.NEGATIVE_INFINITY) < began,
  );
  const remedy = `set spec.persistentVolumeClaimRetentionPolicy to Retain, and retry with the annotation ${RETRY_ROLLBACK}`;
  const what = restoring.type === "Delete" ? "deleted" : "restored";
  if (former.length > 0)
    return conflict(
      `${formatRef(place)} is not ${what}, since PersistentVolumeClaims that are older than the Transaction would be deleted with it (${ownedNames(former, namespace, 60)}): ${remedy}`,
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
