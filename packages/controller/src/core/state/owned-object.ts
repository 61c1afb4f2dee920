// Reads the owners of a listed object.
import { groupOf, isIrreplaceable } from "@janus/api";
import { callName, type Named, tiedTo } from "../kubernetes/implicit-owners.ts";
import type { Owned } from "./listings.ts";
import type { OwnerReference } from "@janus/types";

/** A kind, whatever its version. */
const kindKey = ({ apiVersion, kind }: Pick<OwnerReference, "apiVersion" | "kind">): string =>
  `${groupOf(apiVersion)} ${kind}`;

/**
 * The listed object, with what it says of its owners.
 *
 * @param clusterKinds the kinds that are in no namespace, as group and kind: `apps Deployment`
 */
export const ownedObject = (object: Named, clusterKinds: ReadonlySet<string>): Owned => {
  const { name = "", uid = "", namespace, ownerReferences = [], creationTimestamp: createdAt } = object.metadata;
  const clusterOwners = ownerReferences.filter((owner) => clusterKinds.has(kindKey(owner))).map(({ uid }) => uid);
  const [tie, called] = [tiedTo(object), callName(object)];
  return {
    kind: object.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid,
    owners: ownerReferences.map(({ uid }) => uid),
    ...(clusterOwners.length === 0 ? {} : { clusterOwners }),
    ...(tie === undefined ? {} : { tiedTo: tie }),
    ...(called === undefined ? {} : { callName: called }),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(isIrreplaceable(object) ? { isIrreplaceable: true } : {}),
  };
};

/** Whether it is deleted together with another one. */
export const hasOwner = ({ owners, tiedTo }: Owned): boolean => owners.length > 0 || tiedTo !== undefined;
