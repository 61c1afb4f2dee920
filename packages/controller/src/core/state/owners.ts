// Reads whether the owners of an object exist.
import type { Instant, OwnerReference } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { ApiCall, Discover } from "./effect.ts";
import { changeIn, type Observations } from "./observations.ts";
import type { ResolvedItem } from "./resolved-changes.ts";

/** The most owners of a target, or kinds of owners, that are read at the same time. */
const MOST = 16;

const kindKey = ({ apiVersion, kind }: OwnerReference): string => `${apiVersion}/${kind}`;

/** The kinds of these owners that are not discovered yet. */
export const ownerKinds = (known: Observations, owners: readonly OwnerReference[]): readonly Discover[] => {
  const missing = new Map(
    owners.map((owner) => [kindKey(owner), owner] as const).filter(([key]) => !known.resources.has(key)),
  );
  return [...missing].slice(0, MOST).map(
    ([, { apiVersion, kind }]): Discover => ({
      purpose: "discover",
      apiVersion,
      kind,
    }),
  );
};

/**
 * The place of an owner for the garbage collector: in the namespace of its dependent. Undefined: nowhere, so it counts as there.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
 */
const placeOf = (known: Observations, { place }: ResolvedItem, owner: OwnerReference): ObjectRef | undefined => {
  const resource = known.resources.get(kindKey(owner));
  if (resource === undefined || resource === null) return undefined;
  const { namespace } = place;
  if (!resource.namespaced) return { resource, name: owner.name };
  return namespace === undefined ? undefined : { resource, namespace, name: owner.name };
};

const readOwner = ({ index }: ResolvedItem, { uid }: OwnerReference, place: ObjectRef): ApiCall => ({
  purpose: "read-target",
  item: index,
  as: "serviceAccount",
  mayBeUnserved: true,
  call: { verb: "get", place },
  folds: [{ type: "owner-read", uid }],
});

/**
 * Reads these owners of a target, those that are known to be gone apart: with a reference to one that does not exist, and to no
 * other, the garbage collector deletes the target.
 *
 * Assumes: their kinds were discovered ({@link ownerKinds}).
 *
 * @param since what was read before that is read again
 */
export const readOwners = (
  known: Observations,
  item: ResolvedItem,
  owners: readonly OwnerReference[],
  since: Instant,
): readonly ApiCall[] =>
  owners
    .flatMap((owner): readonly ApiCall[] => {
      const { is, readAt = Number.NEGATIVE_INFINITY } = changeIn(known, item.index).owners?.get(owner.uid) ?? {};
      const place = placeOf(known, item, owner);
      const isKnown = place === undefined || is === "gone" || (is !== undefined && readAt >= since);
      return isKnown ? [] : [readOwner(item, owner, place)];
    })
    .slice(0, MOST);

/** The owners among these that do not exist, as far as they were read. */
export const goneOwners = (
  known: Observations,
  index: number,
  owners: readonly OwnerReference[],
): readonly OwnerReference[] => {
  const { owners: observed } = changeIn(known, index);
  return observed === undefined ? [] : owners.filter(({ uid }) => observed.get(uid)?.is === "gone");
};
