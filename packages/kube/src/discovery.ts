import * as E from "fp-ts/lib/Either.js";
import type { Api, Resource } from "./api.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { ApiError } from "./error.ts";
import { groupPath } from "./request.ts";
import { isObject } from "./json.ts";

/** The API server answered, and it does not serve this kind (now). */
export interface UnknownKind {
  readonly kind: "unknown";
  readonly message: string;
}

export interface Discovery {
  /** Where `kind` is served, such as `("apps/v1", "Deployment")`. */
  readonly resource: (apiVersion: string, kind: string) => Promise<E.Either<ApiError | UnknownKind, Resource>>;
}

interface Served {
  readonly at: number;
  readonly kinds: ReadonlyMap<string, Resource>;
}

/** In ms. A new CRD is served some 2 s after it was made; nobody should wait much longer for it. */
const askAgainAfter = 1_000;
/** In ms. A CRD may be deleted and made again, with another plural or scope. */
const trustedFor = 10_000;

/**
 * Guarantees: only the group version asked for is looked at, so that one whose server is broken stands in nobody else's
 * way; look-ups of a group version at the same time share one request; what is known is asked for again after ten seconds,
 * and what is not known at most once a second.
 */
export const discovery = (api: Api, clock: Clock = systemClock): Discovery => {
  const known = new Map<string, Served>();
  const asking = new Map<string, Promise<E.Either<ApiError, Served>>>();

  const ask = (apiVersion: string): Promise<E.Either<ApiError, Served>> => {
    const underway = asking.get(apiVersion) ?? fetch(apiVersion).finally(() => asking.delete(apiVersion));
    asking.set(apiVersion, underway);
    return underway;
  };

  const fetch = async (apiVersion: string): Promise<E.Either<ApiError, Served>> => {
    const reply = await api.send({ verb: "raw", path: groupPath(parse(apiVersion)), purpose: "discovery" });
    const gone = E.isLeft(reply) && reply.left.kind === "refused" && reply.left.code === 404;
    if (E.isLeft(reply) && !gone) return reply;
    const served = { at: clock.now(), kinds: E.isLeft(reply) ? new Map() : kindsOf(apiVersion, reply.right) };
    known.set(apiVersion, served);
    return E.right(served);
  };

  return {
    resource: async (apiVersion, kind) => {
      if (!/^([^/]+\/)?[^/]+$/.test(apiVersion))
        return E.left(unknown(`"${apiVersion}" is no apiVersion; write it like apps/v1, or v1 for the core group`));
      const before = known.get(apiVersion);
      const found = before?.kinds.get(kind);
      const age = before === undefined ? Number.POSITIVE_INFINITY : clock.now() - before.at;
      if (found !== undefined && age < trustedFor) return E.right(found);
      const recent = found === undefined && before !== undefined && age < askAgainAfter;
      const served = recent ? E.right(before) : await ask(apiVersion);
      if (E.isLeft(served)) return served;
      const now = served.right.kinds.get(kind);
      return now === undefined ? E.left(unknown(absent(apiVersion, kind, served.right.kinds))) : E.right(now);
    },
  };
};

const unknown = (message: string): UnknownKind => ({ kind: "unknown", message });

const absent = (apiVersion: string, kind: string, kinds: ReadonlyMap<string, Resource>): string => {
  if (kinds.size === 0)
    return `the API server does not serve ${apiVersion} (wanted for kind ${kind}); is its CustomResourceDefinition installed?`;
  const alike = [...kinds.values()].find((one) => [one.kind.toLowerCase(), one.plural].includes(kind.toLowerCase()));
  return `the API server serves no kind ${kind} in ${apiVersion}${alike === undefined ? "" : `; did you mean ${alike.kind}?`}`;
};

const parse = (apiVersion: string): Pick<Resource, "group" | "version"> => {
  const [first = "", second] = apiVersion.split("/");
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
};

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#unaggregated-discovery */
const kindsOf = (apiVersion: string, list: { readonly [field: string]: unknown }): ReadonlyMap<string, Resource> => {
  const entries = Array.isArray(list["resources"]) ? list["resources"].filter(isObject) : [];
  const names = new Set(entries.map((entry) => entry["name"]));
  const kinds = new Map<string, Resource>();
  for (const { name, kind, namespaced } of entries)
    if (typeof name === "string" && typeof kind === "string" && !name.includes("/") && !kinds.has(kind))
      kinds.set(kind, {
        ...parse(apiVersion),
        plural: name,
        kind,
        namespaced: namespaced === true,
        statusSubresource: names.has(`${name}/status`),
      });
  return kinds;
};
