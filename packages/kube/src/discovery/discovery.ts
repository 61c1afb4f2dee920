// Finds the resource of a kind, with a short-lived cache.
import * as E from "fp-ts/lib/Either.js";
import type { Api } from "../api/api.ts";
import { type Clock, systemClock } from "../api/clock.ts";
import { type ApiError, isObject, type KubeObject, type Resource } from "@janus/types";
import { unanswered } from "../http/http-exchange.ts";
import { lruCache } from "../api/lru-cache.ts";
import { groupPath } from "../http/http-request.ts";
import { listable } from "./listable.ts";

/** The API server answered that it does not serve this kind now. */
export interface UnknownKind {
  readonly type: "unknown";
  readonly message: string;
}

export interface Discovery {
  /** Where `kind` is served, such as `("apps/v1", "Deployment")`. @param asker default: a group of its own */
  readonly resource: (
    apiVersion: string,
    kind: string,
    asker?: Asker,
  ) => Promise<E.Either<ApiError | UnknownKind, Resource>>;
  /**
   * Where a kind of this name is served, or else one that differs only by case, or has it as its plural: in the same group, or else in
   * others; none where that cannot be found out.
   */
  readonly servedIn: (apiVersion: string, kind: string, asker?: Asker) => Promise<readonly ServedKind[]>;
}

/** A kind as a target names it. */
export interface ServedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The group of a look-up, and the API server that it uses. */
export interface Asker {
  readonly group: string;
  readonly api: Api;
}

interface Served {
  readonly at: number;
  readonly kinds: ReadonlyMap<string, Resource>;
}

/** In ms. A new CRD is served some 2 s after it was created, and should be found soon after that. */
const askAgainAfter = 1_000;
/** In ms. A CRD may be deleted and created again, with another plural or scope. */
const CACHE_TTL = 10_000;
/** The most cached group versions, served or not: users can name any. A cluster has about thirty of its own. */
const REMEMBERED = 256;
/** As many apiVersions as a message needs. */
const MOST_VERSIONS = 3;
/** A group is a DNS subdomain, a version a DNS label. */
const LONGEST = 253 + "/".length + 63;

/**
 * Guarantees: only the requested group version is read, so that one whose server is broken does not affect others; the cache is
 * bounded; concurrent look-ups of a group version by one group share one request; a known one is read again after ten seconds, an
 * unknown one at most once a second; all kinds are listed at most every ten seconds, for whoever asks. `unknown` means that the API server's own list does not have it.
 */
export const discovery = (api: Api, clock: Clock = systemClock): Discovery => {
  const known = lruCache<string, Served>(REMEMBERED);
  const asking = new Map<string, Promise<E.Either<ApiError, Served>>>();
  let all: { readonly at: number; readonly kinds: readonly Resource[] } | undefined;
  const listing = new Map<string, Promise<E.Either<ApiError, readonly Resource[]>>>();

  /** Look-ups of different groups are not shared: that of another group may wait behind its other requests. */
  const ask = (apiVersion: string, { group, api }: Asker): Promise<E.Either<ApiError, Served>> => {
    const key = `${group} ${apiVersion}`;
    const underway = asking.get(key) ?? fetch(api, apiVersion).finally(() => asking.delete(key));
    asking.set(key, underway);
    return underway;
  };

  const fetch = async (api: Api, apiVersion: string): Promise<E.Either<ApiError, Served>> => {
    const found = await kindsIn(api, apiVersion);
    if (E.isLeft(found)) return found;
    const served = { at: clock.now(), kinds: found.right };
    known.set(apiVersion, served);
    return E.right(served);
  };

  const listAll = async ({ group, api }: Asker): Promise<readonly Resource[]> => {
    if (all !== undefined && clock.now() - all.at < CACHE_TTL) return all.kinds;
    const underway = listing.get(group) ?? listable(api).finally(() => listing.delete(group));
    listing.set(group, underway);
    const listed = await underway;
    if (E.isLeft(listed)) return [];
    all = { at: clock.now(), kinds: listed.right };
    return listed.right;
  };

  return {
    servedIn: async (apiVersion, kind, asker = { group: "", api }) => {
      const all = await listAll(asker);
      const named = all.filter((one) => one.kind === kind);
      const alike = named.length > 0 ? named : all.filter((one) => isAlike(one, kind));
      const same = alike.filter(({ group }) => group === parse(apiVersion).group);
      return (same.length > 0 ? same : alike)
        .slice(0, MOST_VERSIONS)
        .map((one) => ({ apiVersion: apiVersionOf(one), kind: one.kind }));
    },
    resource: async (apiVersion, kind, asker = { group: "", api }) => {
      if (!/^([^/]+\/)?[^/]+$/.test(apiVersion) || apiVersion.length > LONGEST)
        return E.left(
          unknown(
            `"${apiVersion.slice(0, LONGEST)}" is no apiVersion; write it like apps/v1, or v1 for the core group`,
          ),
        );
      const before = known.get(apiVersion);
      const found = before?.kinds.get(kind);
      const age = before === undefined ? Number.POSITIVE_INFINITY : clock.now() - before.at;
      if (found !== undefined && age < CACHE_TTL) return E.right(found);
      const recent = found === undefined && before !== undefined && age < askAgainAfter;
      const served = recent ? E.right(before) : await ask(apiVersion, asker);
      if (E.isLeft(served)) return served;
      const now = served.right.kinds.get(kind);
      return now === undefined ? E.left(unknown(absent(apiVersion, kind, served.right.kinds))) : E.right(now);
    },
  };
};

/** Any other object must not pass for an empty list. */
const read = async (
  api: Api,
  path: string,
  kind: string,
  groupVersion?: string,
): Promise<E.Either<ApiError, KubeObject>> =>
  E.filterOrElse(
    (list: KubeObject) => list.kind === kind && list["groupVersion"] === groupVersion,
    (): ApiError => unanswered("malformed", `the answer to ${path} is no ${kind}`),
  )(await api.send({ verb: "raw", path, purpose: "discovery" }));

/** The kinds of a group version; none if the API server does not list it. */
const kindsIn = async (api: Api, apiVersion: string): Promise<E.Either<ApiError, Served["kinds"]>> => {
  const path = parse(apiVersion);
  const list = await read(api, groupPath(path), "APIResourceList", apiVersion);
  if (E.isRight(list)) return E.right(kindsOf(apiVersion, list.right));
  if (list.left.type !== "refused" || list.left.code !== 404) return list;
  // The 404 is plain text, as that of a proxy may be: alone it proves nothing.
  const all = path.group === "" ? await read(api, "/api", "APIVersions") : await read(api, "/apis", "APIGroupList");
  if (E.isLeft(all)) return all;
  return versionsIn(all.right).includes(apiVersion) ? list : E.right(new Map());
};

const unknown = (message: string): UnknownKind => ({ type: "unknown", message });

const isAlike = (one: Resource, kind: string): boolean =>
  [one.kind.toLowerCase(), one.plural].includes(kind.toLowerCase());

const absent = (apiVersion: string, kind: string, kinds: ReadonlyMap<string, Resource>): string => {
  if (kinds.size === 0)
    return `the API server does not serve ${apiVersion} (wanted for kind ${kind}); is its CustomResourceDefinition installed?`;
  const alike = [...kinds.values()].find((one) => isAlike(one, kind));
  return `the API server serves no kind ${kind} in ${apiVersion}${alike === undefined ? "" : `; did you mean ${alike.kind}?`}`;
};

/** The group versions that an APIVersions or an APIGroupList names. */
const versionsIn = (list: KubeObject): readonly unknown[] =>
  [list, ...objects(list["groups"])].flatMap(({ versions }) => [
    ...(Array.isArray(versions) ? versions : []),
    ...objects(versions).map(({ groupVersion }) => groupVersion),
  ]);

const objects = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`);

const parse = (apiVersion: string): Pick<Resource, "group" | "version"> => {
  const [first = "", second] = apiVersion.split("/");
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
};

const isVirtual = (verbs: unknown): boolean =>
  Array.isArray(verbs) &&
  !(verbs.includes("get") && ["create", "update", "patch", "delete"].some((verb) => verbs.includes(verb)));

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#unaggregated-discovery */
const kindsOf = (apiVersion: string, list: { readonly [field: string]: unknown }): ReadonlyMap<string, Resource> => {
  const entries = objects(list["resources"]);
  const names = new Set(entries.map((entry) => entry["name"]));
  const kinds = new Map<string, Resource>();
  for (const { name, kind, namespaced, verbs } of entries)
    if (typeof name === "string" && typeof kind === "string" && !name.includes("/") && !kinds.has(kind))
      kinds.set(kind, {
        ...parse(apiVersion),
        plural: name,
        kind,
        namespaced: namespaced === true,
        statusSubresource: names.has(`${name}/status`),
        ...(isVirtual(verbs) ? { isVirtual: true } : {}),
      });
  return kinds;
};
