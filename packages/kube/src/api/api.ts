import type { Either } from "fp-ts/lib/Either.js";
import type { ApiError, KubeObject, Resource } from "@janus/types";

/** The user a request is made as. Needs the `impersonate` verb on it. */
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
  /** Free text for the request hook: what this request is for, such as `checkpoint`. Never sent. */
  readonly purpose?: string;
  /** How long the client waits in ms before it gives up and closes the connection. Default: the client's. */
  readonly deadline?: number;
  /** An answer of more bytes is given up: `too-large`. Default: 16 MiB. */
  readonly mostBytes?: number;
}

interface Named extends To {
  readonly name: string;
  readonly subresource?: string;
}

interface Write {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  /** `Strict` refuses unknown fields with 400; default: the server's (`Warn`). */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** The server gives up (504) after this many ms. Sent as `?timeout=`; default: the client's. */
  readonly timeout?: number;
}

export interface Get extends Named {
  readonly verb: "get";
}
/** One page. The reply is the list object; `metadata.continue` names the next page. */
export interface List extends To {
  readonly verb: "list";
  /** Only what identifies the objects comes back, as PartialObjectMetadata, from servers that can leave the rest out. */
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
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly dryRun?: boolean;
  readonly timeout?: number;
}

/** One request to the API server, as data. Exactly one HTTP request goes out for it; nothing is retried underneath. */
export type Request = Get | List | Create | Update | Apply | MergePatch | Delete | Raw;

/** GET of a path that is no resource, such as `/apis/apps/v1` (discovery) or `/version`. */
export interface Raw extends Pick<To, "as" | "purpose" | "deadline" | "mostBytes"> {
  readonly verb: "raw";
  readonly path: string;
  /** Media type of the answer, some JSON. Default: `application/json`. */
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
 * Guarantees: every JSON field goes through unchanged, both ways; one HTTP request for each call; an answer or an
 * {@link ApiError} within the deadline; after a deadline the connection is reset, so that nothing that is still on its
 * way in our own buffers can be read by the server later. (What the server's machine has received, a server that was
 * stalled may still read: of 60 such writes 10 were made.)
 * Never: throws or rejects.
 */
export interface Api {
  /**
   * What came with a 2xx is returned as it is; that may be a Status (a finished delete). What was not asked for is
   * `malformed`: an object of another kind, name, namespace or (where the request names one) uid.
   */
  readonly send: (request: Request) => Promise<Either<ApiError, KubeObject>>;
  /** Ends after an error was yielded, when the server ends it, or when `signal` is aborted. */
  readonly watch: (request: Watch, signal: AbortSignal) => AsyncIterable<Either<ApiError, WatchEvent>>;
}

/**
 * The one seam of every request: metrics, fences and faults are hooks. A hook may pass on, answer in the server's place,
 * change the request, or drop the reply.
 */
export type Hook = (
  request: Request,
  next: (request: Request) => Promise<Either<ApiError, KubeObject>>,
) => Promise<Either<ApiError, KubeObject>>;
