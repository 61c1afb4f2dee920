// The error of a request to the API server: refused, or unanswered.

/** A request that did not succeed. */
export type ApiError = Refused | Unanswered;

/**
 * The API server (or something in front of it) answered with an error. Or the client did, before anything was sent: code 400,
 * reason `Unsendable`, for a request that the server would misunderstand.
 */
export interface Refused {
  readonly type: "refused";
  /** HTTP status code. */
  readonly code: number;
  /** `reason` of the Kubernetes Status, such as `AlreadyExists`; empty if the response was no Status. */
  readonly reason: string;
  readonly message: string;
  /** `details.causes` of the Status. */
  readonly causes: readonly { readonly field?: string; readonly reason?: string; readonly message?: string }[];
  /**
   * Of a 404: what the API server says is absent. Measured on 1.36, `tests/kube/not-found.test.ts`.
   *
   * object: the requested object itself; only this means absence.
   * other:  another object that it names, such as the Namespace in which an object was to be created.
   * path:   nothing is served there: the kind, or this version of it, may be served elsewhere, later, or no longer.
   *
   * Absent: it names nothing, and may not be of the API server at all, such as the page of a proxy.
   */
  readonly notFound?: "object" | "other" | "path";
  /** In ms (Retry-After header or `details.retryAfterSeconds`); half a minute at most. */
  readonly retryAfter?: number;
  /** It was rejected for its sender, not for its content: set by a hook, never by a response. */
  readonly fenced?: true;
}

/**
 * No (complete) response. A write may or may not have been applied.
 * `never-sent`: not one byte of the request was sent (no connection, no credentials, no free connection in time), so it was
 * not applied and never will be.
 * `malformed`: the response was a redirect, or a 2xx without a Kubernetes object, or with another than the requested one.
 * `too-large`: the response was larger than the limit.
 * `aborted`: the client was closed.
 */
export interface Unanswered {
  readonly type: "unanswered";
  readonly cause: "deadline" | "connection" | "never-sent" | "aborted" | "malformed" | "too-large";
  readonly message: string;
}

/** How long the server asks to wait before the next request, in ms; 0 if it does not ask for that. */
export const retryAfterOf = (error: ApiError | undefined): number =>
  error?.type === "refused" ? (error.retryAfter ?? 0) : 0;
