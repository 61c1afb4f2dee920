import type { ApiError } from "@janus/types";

/**
 * What a fault means for the request that met it (docs/internals.md, "Errors").
 *
 * transient: says nothing about the request; it is tried again, and fails no Transaction by itself.
 * conflict:  something is not as the request assumed (404, 409): never decided by its code, only by looking. A 404 that
 *            names nothing is none: it is of a proxy, or the kind is served no more.
 * permanent: the API server, or an admission check, will not have it.
 */
export type ErrorClass = "transient" | "conflict" | "permanent";

const TOO_LARGE = /request is too large|etcdserver: request is too large/i;
/** What is no object of its kind: a server-side apply answers 500 for it, where a PUT answers 400. */
const UNTYPED = /^failed to (create typed patch object|convert new object(?!.*conversion webhook))/;

export const classify = (fault: ApiError): ErrorClass => {
  // A deposed leader's fence says nothing about the change itself.
  if (fault.type === "unanswered" || fault.fenced) return "transient";
  if (TOO_LARGE.test(fault.message) || UNTYPED.test(fault.message)) return "permanent";
  if (fault.code === 404) return isNoWord(fault) ? "transient" : "conflict";
  if (fault.code === 409) return "conflict";
  if (fault.code === 408 || fault.code === 429 || fault.code >= 500) return "transient";
  // A token that is being rotated says nothing about the change itself, either.
  return fault.code === 401 ? "transient" : "permanent";
};

/** As the API server's own authorization has it; admission, quotas and namespaces that are being deleted say 403 in other words. */
const DENIED = /is forbidden: User "[^"]*" cannot (\S+) resource /;

/** What the user may not do, where it is for want of a permission that the request was refused. */
export const deniedVerb = (fault: ApiError): string | undefined =>
  fault.type === "refused" && fault.code === 403 ? DENIED.exec(fault.message)?.[1] : undefined;

/** The API server has looked for the very object that was asked for, and there is none. No other answer means absence. */
export const isAbsent = (fault: ApiError): boolean => fault.type === "refused" && fault.notFound === "object";

/** Nothing is served where the request went: its kind, or this version of it, is served elsewhere, later, or no more. */
export const isUnserved = (fault: ApiError): boolean => fault.type === "refused" && fault.notFound === "path";

/** A 404 that says of no object that it is not there. */
const isNoWord = (fault: Extract<ApiError, { type: "refused" }>): boolean =>
  fault.code === 404 && (fault.notFound === undefined || fault.notFound === "path");

/** Whether a write that met this fault may have been made all the same: a page of a proxy is not what became of it. */
export const inDoubt = (fault: ApiError): boolean => {
  if (fault.type === "unanswered") return fault.cause !== "never-sent";
  return fault.code === 408 || fault.code >= 500 || (isNoWord(fault) && !isUnserved(fault));
};

/** The server's own sentence, or what became of the request. */
export const messageOf = (fault: ApiError): string =>
  fault.type === "refused" ? fault.message || `HTTP ${fault.code} ${fault.reason}` : fault.message;
