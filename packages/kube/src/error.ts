/** A request that did not succeed. */
export type ApiError = Refused | Unanswered;

/**
 * The API server (or something in front of it) answered, with an error. Or we did, in its place and before anything was
 * sent: code 400, reason `Unsendable`, for a request whose path or headers would not have said what was meant.
 */
export interface Refused {
  readonly kind: "refused";
  /** HTTP status code. */
  readonly code: number;
  /** `reason` of the Kubernetes Status, such as `AlreadyExists`; empty where the answer was no Status. */
  readonly reason: string;
  readonly message: string;
  /** `details.causes` of the Status. */
  readonly causes: readonly { readonly field?: string; readonly reason?: string; readonly message?: string }[];
  /** What the server asks us to wait, in ms (Retry-After header or `details.retryAfterSeconds`). */
  readonly retryAfter?: number;
}

/**
 * No (whole) answer came. A write may or may not have happened.
 * `never-sent`: not one byte of the request left us (no connection, no credentials, no free connection in time), so it has
 * not happened and never will.
 * `malformed`: an answer came, and it was HTTP 2xx, but no Kubernetes object.
 * `aborted`: the client was closed.
 */
export interface Unanswered {
  readonly kind: "unanswered";
  readonly cause: "deadline" | "connection" | "never-sent" | "aborted" | "malformed";
  readonly message: string;
}
