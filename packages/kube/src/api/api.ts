// The requests to the API server as data, and the interface Api that sends them.
import type { Either } from "fp-ts/lib/Either.js";
import type { ApiError, KubeObject, Resource } from "@janus/types";

/** The user to impersonate. Requires the verb `impersonate` on it. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  /** Sent as `Impersonate-Extra-<key>`. The server makes the keys lower case. */
  readonly extra?: Readonly<Record<string, string>>;
}

interface To {
  readonly resource: Resource;
  /** Absent for cluster-scoped resources. */
  readonly namespace?: string;
  readonly as?: Impersonation;
  /** The purpose of the request, for hooks, such as `checkpoint`. Never sent. */
  readonly purpose?: string;
  /** How long the client waits in ms before it aborts the request. Default: the client's. */
  readonly deadline?: number;
  /** A response of more bytes is aborted: `too-large`. Default: 16 MiB. */
  readonly mostBytes?: number;
}

interface Named extends To {
  readonly name: string;
  readonly subresource?: string;
}

interface Write {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  /** `Strict` rejects unknown fields with 400; default: the server's (`Warn`). */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** The server aborts the write (504) after this many ms. Sent as `?timeout=`; default: the client's. */
  readonly timeout?: number;
}

export interface Get extends Named {
  readonly verb: "get";
}
/** One page. The response is the list object; `metadata.continue` names the next page. */
export interface List extends To {
  readonly verb: "list";
  /** Only metadata is returned, as PartialObjectMetadata, by servers that support it. */
  readonly metadataOnly?: true;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
}
export interface Create extends To, Write {
  readonly verb: "create";
  readonly body: object;
  /** For subresources that are created, such as `serviceaccounts/x/token`. */
  readonly name?: string;
  readonly subresource?: string;
}
/** PUT. Preconditions are `metadata.uid` and `metadata.resourceVersion` of the body. */
export interface Update extends Named, Write {
  readonly verb: "update";
  readonly body: object;
}
/** Server-side apply. Preconditions are `metadata.uid` and `metadata.resourceVersion` of the body. */
export interface Apply extends Named, Write {
  readonly verb: "apply";
  readonly body: object;
  readonly fieldManager: string;
  readonly force: boolean;
}
/** JSON merge patch (RFC 7386). `metadata.resourceVersion` in the body is a precondition (409). */
export interface MergePatch extends Named, Write {
  readonly verb: "mergePatch";
  readonly body: object;
}
export interface Delete extends Named {
  readonly verb: "delete";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** How long a Pod may take to end. 0: it is gone at once, whether its processes are or not. Default: the Pod's. */
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly dryRun?: boolean;
  readonly timeout?: number;
}

/** One request to the API server, as data. It is exactly one HTTP request, without retries. */
export type Request = Get | List | Create | Update | Apply | MergePatch | Delete | Raw;

/** GET of a path that is no resource, such as `/apis/apps/v1` (discovery) or `/version`. */
export interface Raw extends Pick<To, "as" | "purpose" | "deadline" | "mostBytes"> {
  readonly verb: "raw";
  readonly path: string;
  /** Media type of the response, a JSON one. Default: `application/json`. */
  readonly accept?: string;
}

export interface Watch extends To {
  readonly verb: "watch";
  readonly resourceVersion: string;
  /** As of a {@link List}. */
  readonly metadataOnly?: true;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The server ends the watch after this many seconds. */
  readonly timeoutSeconds: number;
}

export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/**
 * The API server.
 *
 * Guarantees: every JSON field is unchanged in both directions; one HTTP request for each call; a response or an
 * {@link ApiError} within the deadline; after a deadline the connection is reset, so that the server cannot read later what
 * is still in our own buffers. (A server that was stalled may still read what its machine has received: of 60 such writes 10
 * were executed.)
 * Never: throws or rejects.
 */
export interface Api {
  /**
   * The body of a 2xx is returned as it is; it may be a Status (a completed delete). One that was not requested is
   * `malformed`: an object of another kind, name, namespace or (if the request names one) uid.
   */
  readonly send: (request: Request) => Promise<Either<ApiError, KubeObject>>;
  /** Ends after an error, when the server ends it, or when `signal` is aborted. */
  readonly watch: (request: Watch, signal: AbortSignal) => AsyncIterable<Either<ApiError, WatchEvent>>;
}

/**
 * Intercepts every request: metrics, fencing and fault injection are hooks. A hook may forward the request, respond in the
 * server's place, change the request, or drop the response.
 */
export type Hook = (
  request: Request,
  next: (request: Request) => Promise<Either<ApiError, KubeObject>>,
) => Promise<Either<ApiError, KubeObject>>;
