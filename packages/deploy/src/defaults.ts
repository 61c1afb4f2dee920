/** Where Janus runs unless it is told otherwise. */
export const defaultNamespace = "janus-system";

/** Name of the controller's ServiceAccount, ClusterRole, ClusterRoleBinding and Deployment. */
export const controllerName = "janus-controller";

/** The Lease of the leader among the controllers, in the controller's namespace. */
export const leaderLease = "janus-controller-leader";

/** The release that all of this belongs to. */
export const version = "0.1.0";

/** The image of the release. */
export const defaultImage = `ghcr.io/janus-project/janus:${version}`;

/** `/healthz`, `/readyz`, `/status` and `/metrics` are all served on this port of a Pod, which is named `http`. */
export const httpPort = 8080;
