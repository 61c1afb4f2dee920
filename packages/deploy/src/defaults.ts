/** Where Janus runs unless it is told otherwise. */
export const defaultNamespace = "janus-system";

/** Name of the controller's ServiceAccount, ClusterRole, ClusterRoleBinding and Deployment. */
export const controllerName = "janus-controller";

/** The Lease of the leader among the controllers, in the controller's namespace. */
export const leaderLease = "janus-controller-leader";

/** The release that all of this belongs to. */
export const version = "0.1.0";

/** Of the same version. No registry has it: the name says so where it is pulled, and nobody else can own it (RFC 2606). */
export const defaultImage = `image-not-set.invalid/janus:${version}`;

/** Where the docs of this repository are. It has no address that everybody can reach, so they are named by their path in it. */
export const documentation = "docs";

/** `/healthz`, `/readyz`, `/status` and `/metrics` are all served on this port of a Pod, which is named `http`. */
export const httpPort = 8080;
