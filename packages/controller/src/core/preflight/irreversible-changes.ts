// Finds changes that cannot be undone, such as making a ConfigMap immutable.
import { deletes, type ResolvedChange, type Transaction } from "@janus/api";
import { equal, type KubeObject } from "@janus/types";
import { collected, ownedNames } from "./dependents.ts";
import { isIrreversible } from "../state/irreversible-deletions.ts";
import { gatesOf } from "../gates/gates-of.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { claimsDeletedBy } from "../kubernetes/deleted-claims.ts";
import { deletedWhenFinished } from "../kubernetes/finished-job.ts";
import { otherAccount } from "../kubernetes/implicit-owners.ts";
import { quantityOf } from "../kubernetes/quantity.ts";
import { storageOf, versionsOf } from "../kubernetes/outline.ts";
import { reclaimedAtOnce } from "../kubernetes/reclaim-policy.ts";
import { asUpdate } from "../merge/take-over.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";

const madeImmutable = ({ content }: Edit, live: KubeObject): string | undefined =>
  content["immutable"] === true && live["immutable"] !== true ? "makes it immutable" : undefined;

type Edit = Exclude<ResolvedChange, { readonly type: "Delete" | "Replace" }>;

/** The part of an edit that cannot be reverted, by kind; undefined if there is none. */
const forGood: Readonly<Record<string, (change: Edit, live: KubeObject) => string | undefined>> = {
  "/ConfigMap": madeImmutable,
  "/Secret": (change, live) => madeImmutable(change, live) ?? otherAccount(change.content, live),
  "/PersistentVolumeClaim": ({ content }, live) => {
    const [storage, former] = [content, live].map(storageOf);
    if (storage === undefined || equal(storage, former)) return undefined;
    const [is, was] = [quantityOf(storage), quantityOf(former)];
    // The API server keeps another text of the same quantity than was written: of 0.5Gi, 512Mi.
    return is !== undefined && was !== undefined && is <= was ? undefined : "makes it larger";
  },
  "/PersistentVolume": ({ content }, live) => reclaimedAtOnce(content, live)?.what,
  "batch/Job": ({ content }, live) => deletedWhenFinished(content, live),
  // The version is in status.storedVersions from then on, and must not be missing from spec.versions.
  "apiextensions.k8s.io/CustomResourceDefinition": ({ content }, live) => {
    const former = new Set(versionsOf(live).map(({ name }) => name));
    const stored = versionsOf(content).find(({ name, storage }) => storage && !former.has(name));
    return stored === undefined ? undefined : `stores its objects in the new version ${stored.name}`;
  },
  "apps/StatefulSet": (change, live) => {
    const deleted = claimsDeletedBy(change, live);
    return deleted === undefined ? undefined : `scales it down, which also deletes ${deleted.names}`;
  },
};

/** The effect of a change on this object that cannot be undone, as the predicate of a sentence; undefined if there is none. */
export const lostForGood = (
  { change, place }: Pick<ResolvedItem, "change" | "place">,
  live: KubeObject,
): string | undefined => {
  const { resource } = place;
  const made = asUpdate(change, place, live);
  if (made.type !== "Delete" && made.type !== "Replace")
    return forGood[`${resource.group}/${resource.kind}`]?.(made, live);
  const claims = claimsDeletedBy(change, live);
  return claims === undefined ? undefined : `also deletes ${claims.names}`;
};

const lasting = (known: Observations, item: ResolvedItem): string | undefined => {
  const live = changeIn(known, item.index).target?.object;
  return live === undefined || deletes(item.change) ? undefined : lostForGood(item, live);
};

/**
 * Tells what else a deletion deletes that cannot be restored: of a StatefulSet, the claims of its volumes, if it says so, even if
 * the ServiceAccount may not list them. Once such a Delete may have been sent, the Transaction can only be completed, as after
 * one of an irreplaceable kind.
 */
export const takenForGood = (txn: Transaction, known: Observations, item: ResolvedItem): string | undefined => {
  const { index, change, place } = item;
  const live = changeIn(known, index).target?.object;
  if (live === undefined || !deletes(change)) return undefined;
  const lost = (collected(txn, known).lost.get(index) ?? []).filter(({ isIrreplaceable }) => isIrreplaceable === true);
  return lost.length === 0 ? lostForGood(item, live) : `also deletes ${ownedNames(lost, place.namespace)}`;
};

/** Advice for a change that is irreversible, and is followed by one that is not. */
export const TO_THE_END = "move it to the end of the list";

/**
 * Tells what a change does that cannot be undone, if it is in the wrong place: it has to come after all changes that can be
 * rolled back, like irreversible deletions.
 *
 * Assumes: all targets have been read, and what goes with them listed, if that is to count.
 */
export const tooEarly = (txn: Transaction, known: Observations): ((item: ResolvedItem) => string | undefined) => {
  const lastingOf = (item: ResolvedItem): string | undefined => lasting(known, item) ?? takenForGood(txn, known, item);
  const isUndone = (item: ResolvedItem): boolean => !isIrreversible(item.change) && lastingOf(item) === undefined;
  const last = itemsOf(txn, known).findLast(isUndone)?.index ?? -1;
  return (item) => {
    const what = lastingOf(item);
    return what === undefined || item.change.type === "Replace" || item.index > last
      ? undefined
      : `the ${item.change.type} of ${formatRef(item.place)} ${what}, which cannot be undone`;
  };
};

/** Why a Replace is refused wherever it stands: what cannot be restored is deleted together with the former object. */
export const lostWithReplaced = (txn: Transaction, known: Observations, item: ResolvedItem): readonly string[] => {
  const what = item.change.type === "Replace" ? takenForGood(txn, known, item) : undefined;
  return what === undefined
    ? []
    : [
        `the Replace of ${formatRef(item.place)} ${what}, which cannot be undone: delete it at the end of an earlier Transaction, and create it in this one`,
      ];
};

const isGated = ({ change }: ResolvedItem): boolean =>
  (change.waitFor ?? []).length > 0 || change.waitTimeout !== undefined;

/** A warning that names the first of them. */
const warning = (
  [first, ...others]: readonly ResolvedItem[],
  why: (item: ResolvedItem) => string,
): readonly string[] => {
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const { index, change, place } = first;
  return [`changes[${index}]${more}: the ${change.type} of ${formatRef(place)} ${why(first)}`];
};

/** Warns of gates of changes that cannot be undone: users expect that an unmet gate rolls everything back. */
export const irreversibleGateWarnings = (txn: Transaction, known: Observations): readonly string[] => {
  const items = itemsOf(txn, known);
  /** Whether a Delete cannot be undone: then no timeout ends the wait for its target. */
  const isBoundless = (item: ResolvedItem): boolean =>
    isGated(item) && (isIrreversible(item.change) || takenForGood(txn, known, item) !== undefined);
  const isKept = (item: ResolvedItem): boolean =>
    gatesOf(txn, item.index).length > 0 && lasting(known, item) !== undefined;
  return [
    ...warning(
      items.filter(isKept),
      (item) =>
        `${lasting(known, item) ?? ""}, which cannot be undone: if its gates are not met, the Transaction is Failed, and only the other changes are rolled back`,
    ),
    ...warning(
      items.filter(isBoundless),
      () =>
        "cannot be undone: once it is sent, neither waitTimeout nor spec.timeout ends the wait until the target is gone",
    ),
  ];
};
