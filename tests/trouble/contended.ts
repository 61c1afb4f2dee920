// Locks on the ConfigMaps `a` and `b` that somebody else holds.
import { lockLease } from "@janus/api";
import { patching } from "../fixtures/changes.ts";
import { configMap, lease } from "../fixtures/manifests.ts";
import type { Workspace } from "../fixtures/workspace.ts";

/** The Lease that locks this ConfigMap. */
export const lockOf = ({ namespace }: Workspace, name: string): string =>
  lockLease({ group: "", kind: "ConfigMap", namespace, name });

export const leases = ({ names }: Workspace): Promise<readonly string[]> => names("coordination.k8s.io/v1", "Lease");

/** Changes of the ConfigMaps `a` and `b`. */
export const both = [patching(configMap("a", { v: "1" })), patching(configMap("b", { v: "1" }))];

/** A lock on `a` for an hour; it comes before that on `b`. */
export const lockOfSomebody = (place: Workspace) =>
  lease(lockOf(place, "a"), { holderIdentity: "somebody", leaseDurationSeconds: 3600 });

export const somebody = (place: Workspace) => place.create(lockOfSomebody(place));
