// Finds the PersistentVolumeClaims that the cluster deletes after a change.
import { deletes, type ResolvedChange } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { claimsOfPod, ephemeralSpec } from "./ephemeral-volumes.ts";
import { claimsOfStatefulSet, type DeletedClaims, statefulSetSpec } from "./stateful-set-claims.ts";

/** The claims of volumes that the cluster deletes after a change of a StatefulSet, or with a Pod. */
export const claimsDeletedBy = (change: ResolvedChange, before: KubeObject): DeletedClaims | undefined =>
  claimsOfStatefulSet(change, before) ?? (deletes(change) ? claimsOfPod(before) : undefined);

/** The part of its spec that {@link claimsDeletedBy} looks at. */
export const claimSpec = (object: KubeObject): object | undefined => statefulSetSpec(object) ?? ephemeralSpec(object);
