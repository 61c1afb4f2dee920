// The version, the image and other defaults of an installation.

/** The version of this release. */
export const version = "0.1.0";

/** The image of this version. There is no public one: the name says so when it is pulled, and cannot be registered (RFC 2606). */
export const defaultImage = `image-not-set.invalid/janus:${version}`;

/** The docs of this repository, by path: they have no public URL. */
export const documentation = "docs";

/** `/healthz`, `/readyz`, `/status` and `/metrics` are all served on this port of a Pod, which is named `http`. */
export const httpPort = 8080;
