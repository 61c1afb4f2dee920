// The kinds whose controllers adopt existing objects, and the kinds that they adopt.
import { groupOf, isBuiltIn } from "@janus/api";
import type { Resource } from "@janus/types";

/** A kind, and its name for kubectl. */
interface Adopted {
  readonly kind: string;
  readonly resource: string;
  /** It belongs to its owner by its name, not by an owner reference. */
  readonly isByName?: true;
}

const PODS: Adopted = { kind: "Pod", resource: "pods" };
const REPLICA_SETS: Adopted = { kind: "ReplicaSet", resource: "replicasets.apps" };
const REVISIONS: Adopted = { kind: "ControllerRevision", resource: "controllerrevisions.apps" };
/** The claims that have the names of a StatefulSet's own: by its retention policy it becomes their owner. */
const CLAIMS: Adopted = { kind: "PersistentVolumeClaim", resource: "persistentvolumeclaims" };
const ENDPOINTS: Adopted = { kind: "Endpoints", resource: "endpoints", isByName: true };
const ENDPOINT_SLICES: Adopted = { kind: "EndpointSlice", resource: "endpointslices.discovery.k8s.io", isByName: true };

/**
 * The objects that the controller of a built-in kind adopts if it finds them there, and what goes with that, by group and kind.
 * https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#non-template-pod-acquisitions
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rollover-aka-multiple-updates-in-flight
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
 * https://kubernetes.io/docs/concepts/services-networking/service/#services-without-selectors
 */
const ADOPTED: Readonly<Record<string, readonly Adopted[]>> = {
  "/ReplicationController": [PODS],
  "/Service": [ENDPOINTS, ENDPOINT_SLICES],
  "apps/DaemonSet": [PODS, REVISIONS],
  "apps/Deployment": [PODS, REPLICA_SETS],
  "apps/ReplicaSet": [PODS],
  "apps/StatefulSet": [PODS, REVISIONS, CLAIMS],
  "batch/Job": [PODS],
};

/**
 * The kinds whose objects may belong to a new object of this kind although they are older than it, as kubectl names them; "any": the
 * controller of a custom resource may adopt anything. Undefined: nothing adopts objects for it.
 */
export const adoptedBy = ({ group, kind }: Resource): readonly string[] | "any" | undefined =>
  isBuiltIn(group) ? ADOPTED[`${group}/${kind}`]?.map(({ resource }) => resource) : "any";

/** Whether an object of a built-in kind gets an owner reference to one of the other kind, whose labels it has, as soon as it is there. */
export const isAdopted = (
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  adopted: { readonly kind: string },
): boolean =>
  (ADOPTED[`${groupOf(apiVersion)}/${kind}`] ?? []).some(({ kind, isByName }) => kind === adopted.kind && !isByName);

/** Whether what belongs to an object of this kind goes with it even if it is deleted with `--cascade=orphan`. */
export const ownsByName = ({ group, kind }: Resource): boolean =>
  (ADOPTED[`${group}/${kind}`] ?? []).some(({ isByName }) => isByName);
