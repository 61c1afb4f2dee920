// Builds the HTTP request of an API request.
import * as E from "fp-ts/lib/Either.js";
import type { Delete, Impersonation, Request, Watch } from "../api/api.ts";
import type { Resource } from "@janus/types";

/** An HTTP request, before authentication. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, percent-encoded. */
  readonly path: string;
  /** Names and values; a name may come several times. Values are bytes (latin1), as they go over the wire. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The HTTP request for a request.
 *
 * Errors: a message, if the server would misunderstand the request. For example, an empty name would turn the delete of one
 * object into a delete of all; an empty user would turn off impersonation.
 */
export const httpOf = (request: Request | Watch, writeTimeout: number): E.Either<string, HttpRequest> => {
  const stranger = request.as === undefined ? undefined : misread(request.as);
  if (stranger !== undefined) return E.left(stranger);
  const { method, query = {}, contentType, body } = shapeOf(request, writeTimeout);
  const path = request.verb === "raw" ? E.right(request.path) : pathOf(request);
  return E.map((path: string) => ({
    method,
    path: withQuery(path, query),
    headers: [
      ["accept", accepted(request)] as const,
      ...(contentType === undefined ? [] : [["content-type", contentType] as const]),
      ...(request.as === undefined ? [] : impersonate(request.as)),
    ],
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }))(path);
};

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
const metadataOnly = (kind: "PartialObjectMetadata" | "PartialObjectMetadataList"): string =>
  `application/json;as=${kind};g=meta.k8s.io;v=v1, application/json`;

const accepted = (request: Request | Watch): string => {
  if (request.verb === "raw") return request.accept ?? "application/json";
  if (request.verb === "list" && request.metadataOnly === true) return metadataOnly("PartialObjectMetadataList");
  if (request.verb === "watch" && request.metadataOnly === true) return metadataOnly("PartialObjectMetadata");
  return "application/json";
};

interface Shape {
  readonly method: HttpRequest["method"];
  readonly query?: Query;
  readonly contentType?: string;
  readonly body?: object;
}

const shapeOf = (request: Request | Watch, writeTimeout: number): Shape => {
  switch (request.verb) {
    case "raw":
    case "get":
      return { method: "GET" };
    case "list": {
      const { limit, resourceVersion, labelSelector, fieldSelector } = request;
      return {
        method: "GET",
        query: { limit, continue: request.continue, resourceVersion, labelSelector, fieldSelector },
      };
    }
    case "watch": {
      const { resourceVersion, labelSelector, fieldSelector, timeoutSeconds } = request;
      return {
        method: "GET",
        query: {
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion,
          timeoutSeconds,
          labelSelector,
          fieldSelector,
        },
      };
    }
    case "create":
      return write("POST", "application/json", request, writeTimeout);
    case "update":
      return write("PUT", "application/json", request, writeTimeout);
    case "apply": {
      // JSON is YAML; a media type for JSON alone came later (1.32) and is not on every server.
      const applied = write("PATCH", "application/apply-patch+yaml", request, writeTimeout);
      return { ...applied, query: { ...applied.query, force: request.force } };
    }
    case "mergePatch":
      return write("PATCH", "application/merge-patch+json", request, writeTimeout);
    case "delete":
      return {
        method: "DELETE",
        contentType: "application/json",
        query: { timeout: duration(request.timeout ?? writeTimeout) },
        body: deleteOptions(request),
      };
  }
};

const write = (
  method: HttpRequest["method"],
  contentType: string,
  request: Exclude<Extract<Request, { readonly body: object }>, Delete>,
  writeTimeout: number,
): Shape => ({
  method,
  contentType,
  query: {
    timeout: duration(request.timeout ?? writeTimeout),
    dryRun: request.dryRun === true ? "All" : undefined,
    fieldManager: request.fieldManager,
    fieldValidation: request.fieldValidation,
  },
  body: request.body,
});

/** A Go duration, in whole milliseconds, which the server requires. */
const duration = (ms: number): string => `${Math.max(1, Math.round(ms))}ms`;

/** With a body, the server ignores these in the query. */
const deleteOptions = ({ preconditions, gracePeriodSeconds, propagationPolicy, dryRun }: Delete): object => ({
  apiVersion: "v1",
  kind: "DeleteOptions",
  ...(preconditions === undefined ? {} : { preconditions }),
  ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
  ...(dryRun === true ? { dryRun: ["All"] } : {}),
});

type OfResource = Exclude<Request, { readonly verb: "raw" }> | Watch;

const pathOf = (request: OfResource): E.Either<string, string> => {
  const { resource, namespace } = request;
  const { name, subresource } = request.verb === "list" || request.verb === "watch" ? nothing : request;
  const many = request.verb === "list" || request.verb === "watch";
  const wrong =
    !resource.namespaced && namespace !== undefined
      ? `${resource.kind} is cluster-scoped, but a namespace ("${namespace}") was given`
      : resource.namespaced && namespace === undefined && !many
        ? `${resource.kind} is namespaced, but no namespace was given`
        : name === undefined && (subresource !== undefined || (!many && request.verb !== "create"))
          ? `a ${request.verb} of a ${resource.kind} needs a name`
          : undefined;
  if (wrong !== undefined) return E.left(wrong);
  const segments = [
    ...(namespace === undefined ? [] : ["namespaces", namespace]),
    resource.plural,
    ...[name, subresource].filter((segment) => segment !== undefined),
  ];
  const bad = segments.find((segment) => !isSegment(segment));
  return bad === undefined
    ? E.right(`${groupPath(resource)}/${segments.map(encodeURIComponent).join("/")}`)
    : E.left(`"${bad}" cannot be part of a path (of a ${resource.kind})`);
};

const nothing: { readonly name?: string; readonly subresource?: string } = {};

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names */
const isSegment = (text: string): boolean => text !== "" && text !== "." && text !== ".." && !/[/%]/.test(text);

/** Where a group version is served, such as `/apis/apps/v1` or `/api/v1`. */
export const groupPath = ({ group, version }: Pick<Resource, "group" | "version">): string =>
  group === ""
    ? `/api/${encodeURIComponent(version)}`
    : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`;

const withQuery = (path: string, query: Query): string => {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
};

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
const impersonate = ({ user, groups = [], extra = {} }: Impersonation): readonly (readonly [string, string])[] => [
  ["impersonate-user", bytes(user)],
  ...groups.map((group) => ["impersonate-group", bytes(group)] as const),
  ...Object.entries(extra).map(([key, value]) => [`impersonate-extra-${headerName(key)}`, bytes(value)] as const),
];

/** The server trims header values, and treats an empty user as no impersonation. */
const misread = ({ user, groups = [], extra = {} }: Impersonation): string | undefined => {
  if (user === "") return "the user to impersonate has no name";
  const bad = [user, ...groups, ...Object.values(extra)].find((text) => text.trim() !== text || /\p{Cc}/u.test(text));
  return bad === undefined ? undefined : `${JSON.stringify(bad)} cannot be sent as a user, a group or an extra of one`;
};

/** The server decodes the percent-encoding. encodeURIComponent keeps ( ), which header names must not contain. */
const headerName = (key: string): string => encodeURIComponent(key).replaceAll("(", "%28").replaceAll(")", "%29");

/** Go reads header values as UTF-8; Node writes them as latin1. */
const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
