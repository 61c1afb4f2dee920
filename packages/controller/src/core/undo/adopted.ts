import { cut, RETRY_ROLLBACK } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { adoptedBy } from "../kubernetes/adopters.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { fromTimestamp } from "../kubernetes/time.ts";
import { callNames, ownedNames } from "../preflight/dependents.ts";
import { collectGarbage } from "../preflight/garbage-collection.ts";
import { failedListings, nextListing } from "../preflight/unlisted-kinds.ts";
import type { FindOwned } from "../state/effect.ts";
import type { Owned } from "../state/listings.ts";
import { rollbackIn, withRollback } from "../state/observations.ts";
import { createdUids } from "./created-uids.ts";
import { conflict, continues, rollbackFailed, type UndoContext, type UndoStep } from "./undo-context.ts";

/** A list that is older than this, in ms, is repeated: its controller may have adopted more since. */
const FRESH = 5_000;

/** What goes with the object, was there before it, and is not ours. */
const olderThan = (undoContext: UndoContext, object: KubeObject, owned: readonly Owned[]): readonly Owned[] => {
  const { uid, creationTimestamp } = object.metadata;
  const since = fromTimestamp(creationTimestamp) ?? Number.NEGATIVE_INFINITY;
  const ours = createdUids(undoContext);
  const { lost } = collectGarbage(owned, [uid], callNames(owned, [object]));
  return (lost.get(0) ?? []).filter(
    (one) => !ours.has(one.uid) && (fromTimestamp(one.createdAt) ?? Number.POSITIVE_INFINITY) < since,
  );
};

const find = (undoContext: UndoContext, object: KubeObject, kinds: readonly string[] | "any"): FindOwned => {
  const { index, place } = undoContext;
  return {
    purpose: "find-owned",
    ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
    ...(kinds === "any" ? {} : { only: kinds }),
    onAnswer: (known, { owned, unlisted }, now) => {
      const { since = now } = rollbackIn(known, index).adopted ?? {};
      const older = olderThan(undoContext, object, owned);
      return withRollback(known, index, { adopted: { older, unlisted, since, readAt: now } });
    },
  };
};

/**
 * What keeps an object that the change created from being deleted: with it, the garbage collector would delete what its controller
 * has adopted, as a Deployment does with Pods that it finds. What is younger was made for it, and goes with it.
 *
 * Assumes: objects that the ServiceAccount may not list, or that are adopted between the list and the deletion, are not seen; age
 *          is told by the second.
 */
export const adopted = (undoContext: UndoContext): UndoStep | undefined => {
  const { index, place, context, seen } = undoContext;
  const { known, now } = context;
  const kinds = adoptedBy(place.resource);
  if (kinds === undefined || seen.object === undefined) return undefined;
  const found = rollbackIn(known, index).adopted;
  if (found === undefined) return continues(find(undoContext, seen.object, kinds));
  if (found.older.length > 0)
    return conflict(
      `${formatRef(place)} is not deleted, since it has adopted objects that are older, and would go with it (${ownedNames(found.older, place.namespace, 60)}): delete it yourself, with --cascade=orphan to keep them`,
    );
  const again = nextListing(found);
  if (again !== undefined && now < again)
    return { type: "wait", until: again, because: `trying again to list what ${formatRef(place)} has adopted` };
  if (again !== undefined || now >= found.readAt + FRESH) return continues(find(undoContext, seen.object, kinds));
  const [unlisted] = failedListings(found.unlisted);
  return unlisted === undefined
    ? undefined
    : rollbackFailed(
        `${formatRef(place)} may have adopted older objects: ${cut(unlisted.resource, 40)} could not be listed (${cut(unlisted.why, 60)}): not deleted; retry with the annotation ${RETRY_ROLLBACK}`,
      );
};
