/** Why a request did not succeed; the same values that the Kubernetes client yields. */
export type Fault =
  | {
      readonly kind: "refused";
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly causes: readonly { readonly field?: string; readonly reason?: string; readonly message?: string }[];
      readonly retryAfter?: number;
    }
  | {
      readonly kind: "unanswered";
      readonly cause: "deadline" | "connection" | "never-sent" | "aborted" | "malformed";
      readonly message: string;
    };

/**
 * What a fault means for the request that met it (design section 2, "Errors").
 *
 * transient: says nothing about the request; it is tried again, and fails no Transaction by itself.
 * conflict:  something is not as the request assumed (404, 409): never decided by its code, only by looking.
 * permanent: the API server, or an admission check, will not have it.
 */
export type Meaning = "transient" | "conflict" | "permanent";

const TOO_LARGE = /request is too large|etcdserver: request is too large/i;
/** What is no object of its kind: a server-side apply answers 500 for it, where a PUT answers 400. */
const UNTYPED = /^failed to (create typed patch object|convert new object(?!.*conversion webhook))/;

export const meaning = (fault: Fault): Meaning => {
  if (fault.kind === "unanswered") return "transient";
  if (TOO_LARGE.test(fault.message) || UNTYPED.test(fault.message)) return "permanent";
  if (fault.code === 404 || fault.code === 409) return "conflict";
  if (fault.code === 408 || fault.code === 429 || fault.code >= 500) return "transient";
  // A token that is being rotated, or a deposed leader's fence: neither says anything about the change itself.
  if (fault.code === 401 || (fault.code === 422 && fault.message.includes(FENCED))) return "transient";
  return "permanent";
};

/** What the fence's admission policy says when it refuses a term that is over. */
export const FENCED = "janus.io/fence";

/** Whether a write that met this fault may have been made all the same. */
export const inDoubt = (fault: Fault): boolean =>
  fault.kind === "unanswered" ? fault.cause !== "never-sent" : fault.code === 408 || fault.code >= 500;

/** The server's own sentence, or what became of the request. */
export const sentence = (fault: Fault): string =>
  fault.kind === "refused" ? fault.message || `HTTP ${fault.code} ${fault.reason}` : fault.message;
