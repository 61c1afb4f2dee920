// The answers that a server, or a proxy in front of it, may give to any request.
import type { Request } from "@janus/kube";
import type { Answering, Exchange, Said } from "../fixtures/proxy.ts";

/** Something that a server, or a proxy in front of it, may answer whatever it was asked, and whatever it has done. */
export interface Answer {
  readonly name: string;
  readonly says: Answering;
  /**
   * Whether the API server might say just this of such a request and mean it: then nobody can tell that it is not so.
   *
   * @param isDone whether the request is done all the same
   */
  readonly isTrueToForm?: (request: Request, isDone: boolean) => boolean;
  /** The API server says no for good, if it says so: a Transaction may fail of it. Of anything else it may only be late. */
  readonly isRefusal?: true;
}

interface Target {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
}

/** What the path names; of what is created, the name stands in the body. */
const targetOf = ({ path, body }: Exchange): Target => {
  const [, group = "", rest = ""] =
    /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:namespaces\/[^/]+\/(?=.))?([^?]*)/.exec(path) ?? [];
  const [resource = "", name] = rest.split("/");
  const [, named = ""] = /"metadata":\{[^}]*?"name":"([^"]*)"/.exec(body) ?? [];
  return { group, resource, name: name ?? named };
};

const json = (status: number, body: object, headers: Said["headers"] = {}): Said => ({
  status,
  headers,
  body: JSON.stringify(body),
});

const failure = (
  code: number,
  reason: string,
  message: string,
  { group, resource, name }: Target,
  details: object = {},
) =>
  json(code, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    details: { name, ...(group === "" ? {} : { group }), kind: resource, ...details },
    code,
  });

const status =
  (code: number, reason: string, says: (target: Target) => string, details: object = {}): Answering =>
  (exchange) => {
    const target = targetOf(exchange);
    return failure(code, reason, says(target), target, details);
  };

const page =
  (code: number, title: string, headers: Said["headers"] = {}): Answering =>
  () => ({
    status: code,
    headers: { "content-type": "text/html", ...headers },
    body: `<html>\n<head><title>${code} ${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`,
  });

const tooMany =
  (retryAfter: string): Answering =>
  (exchange) => {
    const said = status(429, "TooManyRequests", () => "too many requests, please try again later")(exchange);
    return { ...said, headers: { "retry-after": retryAfter } };
  };

interface Written {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: object;
}

/** What would be the right answer, as far as anybody here can know it. */
const right = ({ body, answer }: Exchange): Written & { readonly metadata: object } => {
  const known = answer !== undefined && answer.status < 300 ? answer.body : body;
  const object = known === "" ? {} : (JSON.parse(known) as Written);
  return { apiVersion: "v1", kind: "ConfigMap", ...object, metadata: { name: "stranger", ...object.metadata } };
};

const another =
  (of: (object: ReturnType<typeof right>) => object): Answering =>
  (exchange) =>
    json(200, of(right(exchange)));

const isRead = ({ verb }: Request): boolean => verb === "get" || verb === "list" || verb === "raw";

/** The uid that a request bears as a precondition. */
const uidOf = (request: Request): string | undefined => {
  if (request.verb === "delete") return request.preconditions?.uid;
  if (!("body" in request) || request.verb === "create") return undefined;
  return (request.body as { readonly metadata?: { readonly uid?: string } }).metadata?.uid;
};

export const ANSWERS: readonly Answer[] = [
  {
    name: "403",
    isRefusal: true,
    says: status(403, "Forbidden", ({ resource, name }) => `${resource} "${name}" is forbidden: not you`),
  },
  {
    name: "403 of RBAC after a restart",
    isRefusal: true,
    says: status(
      403,
      "Forbidden",
      ({ resource, name }) =>
        `${resource} "${name}" is forbidden: User "somebody" cannot do that: RBAC: clusterrole.rbac.authorization.k8s.io "admin" not found`,
    ),
  },
  { name: "403 as HTML", isRefusal: true, says: page(403, "Forbidden") },
  {
    name: "404 NotFound",
    isRefusal: true,
    says: status(404, "NotFound", ({ resource, name }) => `${resource} "${name}" not found`),
    // A store that is gone needs no release. Whether a change was made, the target tells.
    isTrueToForm: (request) => isRead(request) || request.verb === "delete" || request.purpose === "release-store",
  },
  {
    name: "404 NotFound of something else",
    isRefusal: true,
    says: () =>
      failure(404, "NotFound", 'widgets.example.com "stranger" not found', {
        group: "example.com",
        resource: "widgets",
        name: "stranger",
      }),
  },
  {
    name: "404 as plain text",
    isRefusal: true,
    says: () => ({ status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found\n" }),
    // So it answers where it serves nothing.
    isTrueToForm: ({ verb }) => verb === "raw",
  },
  { name: "404 as HTML", isRefusal: true, says: page(404, "Not Found") },
  {
    name: "409 Conflict",
    isRefusal: true,
    says: status(
      409,
      "Conflict",
      ({ resource, name }) => `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified`,
    ),
    // As if somebody had modified it, and then deleted it.
    isTrueToForm: ({ verb }, isDone) => verb === "delete" && isDone,
  },
  {
    name: "409 AlreadyExists",
    isRefusal: true,
    says: status(409, "AlreadyExists", ({ resource, name }) => `${resource} "${name}" already exists`),
  },
  {
    name: "410",
    isRefusal: true,
    says: status(410, "Expired", () => "The resourceVersion for the provided list is too old."),
  },
  {
    name: "413",
    isRefusal: true,
    says: status(413, "RequestEntityTooLarge", () => "Request entity too large: limit is 3145728"),
  },
  {
    name: "422",
    isRefusal: true,
    says: status(422, "Invalid", ({ resource, name }) => `${resource} "${name}" is invalid: spec: no good`, {
      causes: [{ reason: "FieldValueInvalid", message: "no good", field: "spec" }],
    }),
  },
  { name: "429 with Retry-After: 1", says: tooMany("1") },
  { name: "429 with Retry-After: 86400", says: tooMany("86400") },
  { name: "429 until 2099", says: tooMany("Fri, 01 May 2099 00:00:00 GMT") },
  { name: "429 with Retry-After: -5", says: tooMany("-5") },
  { name: "429 with Retry-After: 1e400 digits", says: tooMany("9".repeat(400)) },
  { name: "429 with Retry-After: soon", says: tooMany("soon") },
  { name: "500", says: status(500, "InternalError", () => "Internal error occurred: etcd") },
  { name: "500 as HTML", says: page(500, "Internal Server Error") },
  {
    name: "503",
    says: status(503, "ServiceUnavailable", () => "the server is unavailable", { retryAfterSeconds: 1 }),
  },
  { name: "503 as HTML", says: page(503, "Service Unavailable", { "retry-after": "86400" }) },
  ...[301, 302, 307].map((code) => ({
    name: `a redirect (${code})`,
    says: page(code, "Moved", { location: "/none/api/v1/namespaces/default" }),
  })),
  {
    name: "truncated JSON",
    says: (exchange) => {
      const { body } = json(200, right(exchange));
      return { status: 200, body: body.slice(0, body.length / 2) };
    },
  },
  {
    name: "JSON that is cut off",
    says: (exchange) => {
      const said = json(200, right(exchange));
      return { ...said, cut: Math.floor(said.body.length / 2) };
    },
  },
  { name: "200 with nothing", says: () => ({ status: 200, body: "" }) },
  {
    name: "200 with another name",
    says: another((object) => ({ ...object, metadata: { ...object.metadata, name: "stranger", uid: "a-stranger" } })),
    // Reviews have no name.
    isTrueToForm: (request) => request.purpose === "review",
  },
  {
    name: "200 with another namespace",
    says: another((object) => ({ ...object, metadata: { ...object.metadata, namespace: "elsewhere" } })),
    isTrueToForm: (request) => request.purpose === "review",
  },
  {
    name: "200 with another uid",
    says: another((object) => ({ ...object, metadata: { ...object.metadata, uid: "a-stranger" } })),
    isTrueToForm: (request) => uidOf(request) === undefined,
  },
  { name: "200 with another kind", says: another((object) => ({ ...object, kind: "Stranger" })) },
  {
    name: "200 with a list",
    says: () => json(200, { apiVersion: "v1", kind: "StrangerList", metadata: { resourceVersion: "1" }, items: [] }),
  },
  {
    name: "200 with a Status",
    says: () => json(200, { apiVersion: "v1", kind: "Status", metadata: {}, status: "Success" }),
    isTrueToForm: ({ verb }) => verb === "delete",
  },
];

export const answers: ReadonlyMap<string, Answering> = new Map(ANSWERS.map(({ name, says }) => [name, says]));
