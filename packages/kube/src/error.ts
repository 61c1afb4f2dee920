/** A request that did not succeed. */
export type ApiError = Refused | Unanswered;

/** The API server (or something in front of it) answered, with an error. */
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
 * `never-sent`: no connection was made, so it has not happened.
 */
export interface Unanswered {
  readonly kind: "unanswered";
  readonly cause: "deadline" | "connection" | "never-sent" | "aborted" | "malformed";
  readonly message: string;
}
