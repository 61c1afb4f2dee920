import { isBuiltIn } from "@janus/api";
import type { Resource } from "@janus/types";

const OF_PODS: readonly string[] = ["pods"];

/**
 * The kinds, as kubectl names them, of what the controller of a built-in kind adopts if it finds it there, and of what goes with that,
 * by group and kind. (A StatefulSet also takes claims of volumes; see `stateful-set-claims.ts`. Endpoints belong to the Service of
 * their name.)
 * https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#non-template-pod-acquisitions
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rollover-aka-multiple-updates-in-flight
 * https://kubernetes.io/docs/concepts/services-networking/service/#services-without-selectors
 */
const ADOPTED: Readonly<Record<string, readonly string[]>> = {
  "/ReplicationController": OF_PODS,
  "/Service": ["endpoints", "endpointslices.discovery.k8s.io"],
  "apps/DaemonSet": ["pods", "controllerrevisions.apps"],
  "apps/Deployment": ["pods", "replicasets.apps"],
  "apps/ReplicaSet": OF_PODS,
  "apps/StatefulSet": ["pods", "controllerrevisions.apps"],
  "batch/Job": OF_PODS,
};

/**
 * The kinds whose objects may belong to a new object of this kind although they are older than it; "any": the controller of a custom
 * resource may adopt anything. Undefined: nothing adopts objects for it.
 */
export const adoptedBy = ({ group, kind }: Resource): readonly string[] | "any" | undefined =>
  isBuiltIn(group) ? ADOPTED[`${group}/${kind}`] : "any";
