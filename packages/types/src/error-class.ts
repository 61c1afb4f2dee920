// Classifies errors of the API server: transient, conflict or permanent.
import type { ApiError } from "./api-error.ts";
import { withoutDump } from "./without-dump.ts";

/**
 * What an error means for the request (docs/internals.md, "Errors").
 *
 * transient: says nothing about the request; it is retried, and does not fail the Transaction by itself.
 * conflict: something is not as the request assumed (404, 409): never decided by the code, only by reading the
 *            object. A 404 that names no object is not a conflict: it comes from a proxy, or the kind is no
 *            longer served.
 * permanent: the API server or an admission check rejects the request.
 */
export type ErrorClass = "transient" | "conflict" | "permanent";

const TOO_LARGE = /request is too large|etcdserver: request is too large/i;
/** Content that is not an object of its kind: a server-side apply returns 500 for it, a PUT 400. */
const UNTYPED = /^failed to (create typed patch object|convert new object(?!.*conversion webhook))/;
/** Of a Service. That of any other port is a 422. */
const PORT_TAKEN = /failed to allocate requested HealthCheck NodePort \d+: provided port is already allocated/;

/** Another Service has the port for health checks, which the API server says with a 500. */
export const isPortTaken = (fault: ApiError): boolean => fault.type === "refused" && PORT_TAKEN.test(fault.message);

export const classify = (fault: ApiError): ErrorClass => {
  // A rejection by the fence says nothing about the change itself.
  if (fault.type === "unanswered" || fault.fenced) return "transient";
  if (TOO_LARGE.test(fault.message) || UNTYPED.test(fault.message) || isPortTaken(fault)) return "permanent";
  if (fault.code === 404) return isUnspecificNotFound(fault) ? "transient" : "conflict";
  if (fault.code === 409) return "conflict";
  if (fault.code === 408 || fault.code === 429 || fault.code >= 500) return "transient";
  // Nor does a token that is being rotated.
  return fault.code === 401 ? "transient" : "permanent";
};

/**
 * The message of the API server's authorizer. Admission, quotas and terminating namespaces return 403 with other
 * messages.
 */
const DENIED = /is forbidden: User "[^"]*" cannot (\S+) resource /;

/** The verb that the user may not use, if the request was rejected because of missing permissions. */
export const deniedVerb = (fault: ApiError): string | undefined =>
  fault.type === "refused" && fault.code === 403 ? DENIED.exec(fault.message)?.[1] : undefined;

/** The API server looked for this object, and it does not exist. No other response means absence. */
export const isAbsent = (fault: ApiError): boolean => fault.type === "refused" && fault.notFound === "object";

/** There is one of this name, so that it is not created. Who has made it, and when, only reading it tells. */
export const isTaken = (fault: ApiError): boolean => fault.type === "refused" && fault.reason === "AlreadyExists";

/** Nothing is served at this path: the kind, or this version of it, is served elsewhere, later, or no longer. */
export const isUnserved = (fault: ApiError): boolean => fault.type === "refused" && fault.notFound === "path";

/** A 404 that does not say that an object is absent. */
const isUnspecificNotFound = (fault: Extract<ApiError, { type: "refused" }>): boolean =>
  fault.code === 404 && (fault.notFound === undefined || fault.notFound === "path");

/**
 * Whether the write may have been applied in spite of this error: a page of a proxy does not show it; nor does a 429, which may be
 * the answer to what a proxy has sent again.
 */
export const mayBeApplied = (fault: ApiError): boolean => {
  if (fault.type === "unanswered") return fault.cause !== "never-sent";
  return (
    fault.code === 408 || fault.code === 429 || fault.code >= 500 || (isUnspecificNotFound(fault) && !isUnserved(fault))
  );
};

/** The message of the server, without long values; or what happened to the request. */
export const messageOf = (fault: ApiError): string =>
  fault.type === "refused" ? withoutDump(fault.message) || `HTTP ${fault.code} ${fault.reason}` : fault.message;
