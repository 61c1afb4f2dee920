/** A request that did not succeed. */
export type ApiError = Refused | Unanswered;

/**
 * The API server (or something in front of it) answered, with an error. Or we did, in its place and before anything was
 * sent: code 400, reason `Unsendable`, for a request whose path or headers would not have said what was meant.
 */
export interface Refused {
  readonly type: "refused";
  /** HTTP status code. */
  readonly code: number;
  /** `reason` of the Kubernetes Status, such as `AlreadyExists`; empty where the answer was no Status. */
  readonly reason: string;
  readonly message: string;
  /** `details.causes` of the Status. */
  readonly causes: readonly { readonly field?: string; readonly reason?: string; readonly message?: string }[];
  /**
   * Of a 404: what the API server says is not there. Measured on 1.36, `tests/kube/not-found.test.ts`.
   *
   * object: the very object that was asked for; the one answer that means absence.
   * other:  something else that it names, such as the Namespace that an object was to be created in.
   * path:   nothing is served there: the kind, or this version of it, may be served elsewhere, later, or no more.
   *
   * Absent: it says nothing, and may not even be of the API server, as the page of a proxy.
   */
  readonly notFound?: "object" | "other" | "path";
  /** What the server asks us to wait, in ms (Retry-After header or `details.retryAfterSeconds`); half a minute at most. */
  readonly retryAfter?: number;
  /** It was refused for whose write it was, not for what it was: said by a hook that knows, never by an answer. */
  readonly fenced?: true;
}

/**
 * No (whole) answer came. A write may or may not have happened.
 * `never-sent`: not one byte of the request left us (no connection, no credentials, no free connection in time), so it has
 * not happened and never will.
 * `malformed`: an answer came, and it was a redirect, or HTTP 2xx, but no Kubernetes object, or another than was asked for.
 * `too-large`: more of an answer came than is taken into memory.
 * `aborted`: the client was closed.
 */
export interface Unanswered {
  readonly type: "unanswered";
  readonly cause: "deadline" | "connection" | "never-sent" | "aborted" | "malformed" | "too-large";
  readonly message: string;
}
