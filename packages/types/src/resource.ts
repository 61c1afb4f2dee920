/** The resource of a kind: where the API server serves it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Whether `.status` is a subresource, so that writes to the object do not change it. */
  readonly statusSubresource: boolean;
  /** Its objects cannot be read, or cannot be written: they are reviews (a SubjectAccessReview) or views, and not stored. */
  readonly isVirtual?: true;
}

/** Of locks, and of leader election. */
export const leases: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
  statusSubresource: false,
};

export const configMaps: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
  statusSubresource: false,
};

export const secrets: Resource = { ...configMaps, plural: "secrets", kind: "Secret" };
export const serviceAccounts: Resource = { ...configMaps, plural: "serviceaccounts", kind: "ServiceAccount" };

export const namespaces: Resource = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
  statusSubresource: true,
};

export const pods: Resource = {
  group: "",
  version: "v1",
  plural: "pods",
  kind: "Pod",
  namespaced: true,
  statusSubresource: true,
};
