// Finds owner references of a change to objects that do not exist.
import type { Transaction } from "@janus/api";
import { asObject, type OwnerReference } from "@janus/types";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiCall, Discover } from "../state/effect.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { goneOwners, ownerKinds, readOwners } from "../state/owners.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { isFromSecret } from "../state/sensitive-kinds.ts";

/** The most owners of a change that are looked at: who writes thousands must not have each of them read. */
const MOST = 20;

const isReference = (value: unknown): value is OwnerReference => {
  const { apiVersion, kind, name, uid } = asObject(value);
  return [apiVersion, kind, name, uid].every((field) => typeof field === "string" && field !== "");
};

const ownersIn = ({ change }: ResolvedItem): readonly OwnerReference[] => {
  if (change.type === "Delete") return [];
  const { ownerReferences } = asObject(change.content["metadata"]);
  return Array.isArray(ownerReferences) ? ownerReferences.slice(0, MOST).filter(isReference) : [];
};

/** The owners that the change adds to its target. */
const newOwners = (known: Observations, item: ResolvedItem): readonly OwnerReference[] => {
  const { ownerReferences = [] } = changeIn(known, item.index).target?.object?.metadata ?? {};
  return ownersIn(item).filter(({ uid }) => !ownerReferences.some((owner) => owner.uid === uid));
};

/** The kinds of all owners that the changes name, as far as they are not discovered yet. */
export const kindsOfOwners = (txn: Transaction, known: Observations): readonly Discover[] =>
  ownerKinds(known, itemsOf(txn, known).flatMap(ownersIn));

/** The reads of owners that the preflight of this change still needs. Its target has been read. */
export const readNewOwners = (known: Observations, item: ResolvedItem): readonly ApiCall[] =>
  readOwners(known, item, newOwners(known, item), Number.NEGATIVE_INFINITY);

/** Why the garbage collector would delete the target of a change, or take the reference out again: it names an owner that does not exist. */
export const missingOwners = (item: ResolvedItem, known: Observations): readonly string[] =>
  goneOwners(known, item.index, newOwners(known, item)).map(({ kind, name, uid }) => {
    const owner = isFromSecret(item.change) ? "an owner of it" : `its owner ${kind} ${name} (uid ${uid})`;
    return `${formatRef(item.place)} would be garbage-collected: ${owner} does not exist: correct content.metadata.ownerReferences`;
  });
