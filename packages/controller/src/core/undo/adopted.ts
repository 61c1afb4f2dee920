// Keeps a created object whose deletion would garbage-collect objects that existed before.
import { cut, RETRY_ROLLBACK } from "@janus/api";
import { type KubeObject, fromTimestamp } from "@janus/types";
import { adoptedBy, ownsByName } from "../kubernetes/adopters.ts";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { callNames, ownedNames } from "../preflight/dependents.ts";
import { collectGarbage } from "../preflight/garbage-collection.ts";
import { failedListings, nextListing } from "../preflight/unlisted-kinds.ts";
import type { FindOwned } from "../state/effect.ts";
import type { Owned, Unlisted } from "../state/listings.ts";
import { createdUids, keptUids, recreatedUids } from "./created-uids.ts";
import { conflict, continues, rollbackFailed, type UndoContext, type UndoStep } from "./undo-context.ts";

/** A list that is older than this, in ms, is repeated: its controller may have adopted more since. */
const FRESH = 5_000;

/** Objects that go with this one and are older: also those that the rollback has created again since, or has left there. */
const olderThan = (undoContext: UndoContext, object: KubeObject, owned: readonly Owned[]): readonly Owned[] => {
  const { uid, creationTimestamp } = object.metadata;
  const since = fromTimestamp(creationTimestamp) ?? Number.NEGATIVE_INFINITY;
  const [created, recreated] = [createdUids(undoContext), recreatedUids(undoContext)];
  const kept = keptUids(undoContext);
  const isOlder = ({ uid, createdAt }: Owned): boolean =>
    recreated.has(uid) ||
    kept.has(uid) ||
    (!created.has(uid) && (fromTimestamp(createdAt) ?? Number.POSITIVE_INFINITY) < since);
  const { lost } = collectGarbage(owned, [uid], callNames(owned, [object]));
  return (lost.get(0) ?? []).filter(isOlder);
};

const scopeOf = ({ namespace = "", resource }: ObjectRef): string => JSON.stringify([namespace, adoptedBy(resource)]);

const unlistedText = ({ resource, why }: Unlisted): string =>
  `${cut(resource, 40)} could not be listed (${cut(why, 60)})`;

/** One list for all that the same kinds may belong to: there may be hundreds of them, one after the other. */
const find = ({ place: { namespace } }: UndoContext, scope: string, kinds: readonly string[] | "any"): FindOwned => ({
  purpose: "find-owned",
  ...(namespace === undefined ? {} : { namespace }),
  ...(kinds === "any" ? {} : { only: kinds }),
  finds: { type: "adoptable", scope },
});

/**
 * Keeps an object that the change created if, with it, the garbage collector would delete what its controller has adopted, as a
 * Deployment does with Pods that it finds. What is younger was made for it, and goes with it.
 *
 * Assumes: objects that the ServiceAccount may not list, or that could not be listed (see {@link unseenAdopted}), or that are
 *          adopted between the list and the deletion, are not seen. Age is told by the second.
 */
export const adopted = (undoContext: UndoContext): UndoStep | undefined => {
  const { place, context, seen } = undoContext;
  const { known, now } = context;
  const kinds = adoptedBy(place.resource);
  if (kinds === undefined || seen.object === undefined) return undefined;
  const scope = scopeOf(place);
  const found = known.adoptable?.scope === scope ? known.adoptable : undefined;
  if (found === undefined) return continues(find(undoContext, scope, kinds));
  const older = olderThan(undoContext, seen.object, found.owned);
  if (older.length > 0) {
    const remedy = ownsByName(place.resource)
      ? "leave it there, or save them first: they go with any deletion of it"
      : "delete it yourself, with --cascade=orphan to keep them";
    return conflict(
      `${formatRef(place)} is not deleted, since it has adopted older objects, which would go with it (${ownedNames(older, place.namespace, 60)}): ${remedy}`,
    );
  }
  const again = nextListing(found);
  if (again !== undefined && now < again)
    return { type: "wait", until: again, because: `trying again to list what ${formatRef(place)} has adopted` };
  if (again !== undefined || now >= found.readAt + FRESH) return continues(find(undoContext, scope, kinds));
  const unlisted = failedListings(found.unlisted).find(({ isPartial }) => !isPartial);
  // A custom resource hardly ever owns what is older; but some kind of a cluster may be broken for long.
  return unlisted === undefined || kinds === "any"
    ? undefined
    : rollbackFailed(
        `${formatRef(place)} may have adopted older objects: ${unlistedText(unlisted)}: not deleted; retry with the annotation ${RETRY_ROLLBACK}`,
      );
};

/** Says that older objects may have gone with it, for messages; undefined if they were all seen, as far as they may be listed. */
export const unseenAdopted = ({ place, context: { known } }: UndoContext): string | undefined => {
  const [unlisted] = known.adoptable?.scope === scopeOf(place) ? failedListings(known.adoptable.unlisted) : [];
  return unlisted === undefined
    ? undefined
    : `${formatRef(place)}: its rollback may have deleted older objects that it had adopted: ${unlistedText(unlisted)}`;
};
