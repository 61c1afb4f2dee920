// Authenticates and authorizes scrapers of /metrics by TokenReview and SubjectAccessReview.
import { createHash } from "node:crypto";
import { type Api, type Clock, type Create, type KubeObject, type Resource, systemClock } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { messageOf } from "@janus/types";
import type { Log } from "../process/log.ts";

const review = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: false,
  statusSubresource: false,
});
const tokenReviews = review("authentication.k8s.io", "tokenreviews", "TokenReview");
const accessReviews = review("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview");

const asking = (resource: Resource, spec: object): Create => ({
  verb: "create",
  purpose: "metrics-auth",
  resource,
  body: { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, spec },
});

interface User {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface Reviewed extends KubeObject {
  readonly status?: { readonly authenticated?: boolean; readonly user?: User; readonly allowed?: boolean };
}

/** unknown: the API server gave no answer. */
export type Access = "allowed" | "unauthenticated" | "forbidden" | "unknown";

/** How long an answer is cached, in ms; as long as in the components of Kubernetes itself. */
const REMEMBERED = 10_000;
/** The number of cached tokens; beyond it, the oldest are removed. */
const MOST = 256;

/** The token of an Authorization header (RFC 6750). */
const tokenIn = (authorization: string | undefined): string | undefined =>
  /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];

/**
 * Authorizes requests for metrics: the API server must accept the bearer token, and its user must be allowed to `get` the
 * path /metrics.
 *
 * Guarantees: at most one review of a token at a time, and none for {@link REMEMBERED} ms after its answer; no token is
 *             stored, only its digest.
 */
export const metricsAuth = (
  api: Api,
  log: Log,
  clock: Clock = systemClock,
): ((authorization: string | undefined) => Promise<Access>) => {
  const remembered = new Map<string, { readonly verdict: Promise<Access>; readonly until: number }>();

  const ask = async (request: Create): Promise<Reviewed["status"]> => {
    const answer = await api.send(request);
    if (E.isRight(answer)) return (answer.right as Reviewed).status ?? {};
    log("warn", "cannot authorize a request for /metrics", { error: messageOf(answer.left) });
    return undefined;
  };

  const judge = async (token: string): Promise<Access> => {
    const known = await ask(asking(tokenReviews, { token }));
    if (known === undefined) return "unknown";
    if (known.authenticated !== true || known.user === undefined) return "unauthenticated";
    const { username, uid, groups, extra } = known.user;
    const nonResourceAttributes = { path: "/metrics", verb: "get" };
    const may = await ask(asking(accessReviews, { user: username, uid, groups, extra, nonResourceAttributes }));
    if (may === undefined) return "unknown";
    return may.allowed === true ? "allowed" : "forbidden";
  };

  return async (authorization) => {
    const token = tokenIn(authorization);
    if (token === undefined) return "unauthenticated";
    const key = createHash("sha256").update(token).digest("base64");
    const before = remembered.get(key);
    if (before !== undefined && clock.now() < before.until) return before.verdict;
    remembered.delete(key);
    const verdict = judge(token);
    remembered.set(key, { verdict, until: clock.now() + REMEMBERED });
    for (const oldest of remembered.keys()) {
      if (remembered.size <= MOST) break;
      remembered.delete(oldest);
    }
    if ((await verdict) === "unknown") remembered.delete(key);
    return verdict;
  };
};
