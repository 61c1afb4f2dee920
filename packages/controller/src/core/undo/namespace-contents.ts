// Keeps a created Namespace or CRD that contains objects of other clients.
import { cut, groupOf, RETRY_ROLLBACK, type Transaction } from "@janus/api";
import { ownedNames } from "../preflight/dependents.ts";
import type { FindOwned } from "../state/effect.ts";
import { rollbackIn } from "../state/observations.ts";
import type { Contents } from "../state/rollback-observations.ts";
import type { TargetObservation } from "../state/target-observations.ts";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import { createdUids, keptUids } from "./created-uids.ts";
import { conflict, continues, rollbackFailed, type UndoStep, type UndoContext } from "./undo-context.ts";
import { deniedKinds, failedListings, nextListing } from "../preflight/unlisted-kinds.ts";
import type { Owned, Unlisted } from "../state/listings.ts";
import { asObject } from "@janus/types";

/** A list that is older than this, in ms, is repeated: other clients may have created objects since. */
const FRESH = 5_000;

/** The list to make of its contents; undefined for objects without contents. */
const within = ({ resource: { group, kind }, name }: ObjectRef): Partial<FindOwned> | undefined => {
  if (group === "" && kind === "Namespace") return { namespace: name };
  // Its name is the resource that it defines.
  return group === "apiextensions.k8s.io" && kind === "CustomResourceDefinition" ? { only: [name] } : undefined;
};

/** The beginnings of the names of the claims that the StatefulSets of this Transaction make, before the number of the Pod. */
const claimPrefixes = ({ metadata, spec }: Transaction, namespace: string): readonly string[] =>
  spec.changes.flatMap((change) => {
    const { target } = change;
    const isStatefulSet = target.kind === "StatefulSet" && groupOf(target.apiVersion) === "apps";
    if (change.type === "Delete" || !isStatefulSet || (target.namespace ?? metadata.namespace) !== namespace) return [];
    const { volumeClaimTemplates } = asObject(change.content["spec"]);
    if (!Array.isArray(volumeClaimTemplates)) return [];
    return volumeClaimTemplates.map((template) => {
      const { name } = asObject(asObject(template)["metadata"]);
      return `${typeof name === "string" ? name : ""}-${target.name}-`;
    });
  });

const isClaim = ({ kind, name }: Owned, prefixes: readonly string[]): boolean =>
  kind === "PersistentVolumeClaim" &&
  prefixes.some((prefix) => name.startsWith(prefix) && /^\d+$/u.test(name.slice(prefix.length)));

/**
 * Objects that are not of this Transaction, or were not rolled back, and do not go with those that are. In a Namespace, an object
 * that has an owner goes with that, unless the owner is outside of it.
 */
const ofOthers = ({ owned }: Contents, undoContext: UndoContext): readonly Owned[] => {
  const { place, context } = undoContext;
  const { txn } = context;
  const kept = keptUids(undoContext);
  const ours = new Set([...createdUids(undoContext)].filter((uid) => !kept.has(uid)));
  const claims = claimPrefixes(txn, place.name);
  return owned.filter((object) => {
    const { uid, owners, clusterOwners = [], tiedTo } = object;
    if (kept.has(uid)) return true;
    if (ours.has(uid)) return false;
    if (clusterOwners.some((owner) => !ours.has(owner))) return true;
    if (place.resource.kind === "Namespace")
      return owners.length === 0 && tiedTo === undefined && !isClaim(object, claims);
    return owners.length === 0 || !owners.every((owner) => ours.has(owner));
  });
};

/** A CustomResourceDefinition that was never established was never served: there are no objects of its kind. */
const mayHold = ({ type, object }: TargetObservation): boolean => {
  if (type !== "read" || object.kind !== "CustomResourceDefinition") return true;
  const { conditions } = asObject(object["status"]);
  return (
    Array.isArray(conditions) &&
    conditions.map(asObject).some(({ type, status }) => type === "Established" && status === "True")
  );
};

/** Lists all objects, with owners or without. */
export const findContents = ({ index }: UndoContext, to: Partial<FindOwned>): FindOwned => ({
  ...to,
  purpose: "find-owned",
  unowned: true,
  finds: { type: "contents", index },
});

const unknown = ({ place }: UndoContext, unlisted: readonly Unlisted[]): string => {
  const names = cut(unlisted.map(({ resource }) => resource).join(", "), 80);
  const [why = ""] = unlisted.map(({ why }) => cut(why, 80));
  return `${formatRef(place)} may contain objects of other clients: ${names} could not be listed (${why})`;
};

/**
 * Keeps a Namespace or CustomResourceDefinition that the change created from being deleted if it has, or may have, objects of
 * other clients. Undefined if it may be deleted.
 *
 * Assumes: objects that the ServiceAccount may not list (see {@link unseen}), or that are created between the list and the
 *          deletion, are not seen.
 */
export const contents = (undoContext: UndoContext): UndoStep | undefined => {
  const { index, place, context } = undoContext;
  const { known, now } = context;
  const to = within(place);
  if (to === undefined || !mayHold(undoContext.seen)) return undefined;
  const found = rollbackIn(known, index).contents;
  if (found === undefined) return continues(findContents(undoContext, to));
  const others = ofOthers(found, undoContext);
  const kept = keptUids(undoContext);
  const isKept = others.some(({ uid }) => kept.has(uid));
  if (others.length > 0)
    return conflict(
      `${formatRef(place)} contains objects of other clients${isKept ? ", or that were not rolled back" : ""} (${ownedNames(others, to.namespace, 60)}): not deleted; delete it yourself, or move these objects and retry with the annotation ${RETRY_ROLLBACK}`,
    );
  const again = nextListing(found);
  if (again !== undefined && now < again)
    return {
      type: "wait",
      until: again,
      because: `trying again to list the contents of ${formatRef(place)}`,
    };
  if (again !== undefined || now >= found.readAt + FRESH) return continues(findContents(undoContext, to));
  const failed = failedListings(found.unlisted);
  return failed.length === 0 ? undefined : rollbackFailed(unknown(undoContext, failed));
};

/** Lists what is in a Namespace that goes already: only for {@link unseen}, of which another process knows nothing. */
export const findUnseen = (undoContext: UndoContext): UndoStep | undefined => {
  const { index, place, context } = undoContext;
  const to = within(place);
  return to?.namespace === undefined || rollbackIn(context.known, index).contents !== undefined
    ? undefined
    : continues(findContents(undoContext, to));
};

/** Tells what is not known of what the rollback deletes together with the target, for messages. */
export const unseen = ({ index, place, context }: UndoContext): string | undefined => {
  const denied = deniedKinds(rollbackIn(context.known, index).contents?.unlisted ?? []);
  return denied === undefined
    ? undefined
    : `${formatRef(place)}: its rollback may have deleted objects of kinds that the ServiceAccount may not list (${cut(denied, 80)})`;
};
