// References to objects, preconditions of writes, and how messages name both.
import type { KubeObject, Resource } from "@janus/types";

/** Preconditions of a write: the uid and resourceVersion that it was decided on. */
export interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A reference to an object; no namespace if the kind is cluster-scoped. */
export interface ObjectRef {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name: string;
}

/** `ConfigMap default/app-config`: how messages name an object. */
export const formatRef = (place: ObjectRef): string =>
  `${place.resource.kind} ${place.namespace === undefined ? "" : `${place.namespace}/`}${place.name}`;

/** The message about an object that another client is deleting. */
export const terminatingMessage = (place: ObjectRef, { metadata: { finalizers = [] } }: KubeObject): string =>
  `${formatRef(place)} is being deleted by another client${finalizers.length === 0 ? "" : `, delayed by its finalizers: ${finalizers.join(", ")}`}`;

/** Why a rollback waits for an object that is being deleted. A Pod, or a Namespace, takes its time without finalizers. */
export const awaitedDeletion = (place: ObjectRef, { metadata: { finalizers = [] } }: KubeObject): string =>
  finalizers.length === 0
    ? `waiting until ${formatRef(place)} is gone`
    : `waiting for the finalizers of ${formatRef(place)}: ${finalizers.join(", ")}`;

const builtIn = (group: string, plural: string, kind: string, statusSubresource = false): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
  statusSubresource,
});

export { configMaps, namespaces, secrets, serviceAccounts } from "@janus/types";
export const events = builtIn("", "events", "Event", true);
export const selfSubjectAccessReviews: Resource = {
  ...builtIn("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
  namespaced: false,
};

export const ownerUids = ({ metadata: { ownerReferences = [] } }: KubeObject): readonly string[] =>
  ownerReferences.map(({ uid }) => uid);
