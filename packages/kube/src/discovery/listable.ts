// Lists all kinds that can be listed, by aggregated discovery.
import * as E from "fp-ts/lib/Either.js";
import type { Api } from "../api/api.ts";
import { type ApiError, isObject, type Resource } from "@janus/types";
import { unanswered } from "../http/http-exchange.ts";

/** Aggregated discovery, GA since Kubernetes 1.30: https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/3352-aggregated-discovery */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const objects = (value: unknown): readonly { readonly [field: string]: unknown }[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A kind, and the names that kubectl accepts for it. */
export interface NamedKind {
  readonly resource: Resource;
  /** In lower case: the plural, the singular and the kind, then the short names, such as `deploy`. */
  readonly names: readonly string[];
}

/**
 * Every kind that can be listed, each once, in the version that the server prefers.
 *
 * Guarantees: two requests, however many kinds there are. A group whose server is broken is left out, and does not affect
 *             others.
 */
export const listable = async (api: Api): Promise<E.Either<ApiError, readonly Resource[]>> =>
  E.map((kinds: readonly NamedKind[]) => kinds.map(({ resource }) => resource))(await namedKinds(api));

/** {@link listable}, with their names. */
export const namedKinds = async (api: Api): Promise<E.Either<ApiError, readonly NamedKind[]>> => {
  const [core, others] = await Promise.all(
    ["/api", "/apis"].map((path) => api.send({ verb: "raw", path, accept: AGGREGATED, purpose: "discovery" })),
  );
  if (core === undefined || others === undefined) return E.right([]);
  if (E.isLeft(core)) return core;
  if (E.isLeft(others)) return others;
  for (const { kind } of [core.right, others.right])
    if (kind !== "APIGroupDiscoveryList")
      return E.left(unanswered("malformed", `the answer to /api or /apis is a ${kind}, and no list of all kinds`));
  return E.right([...objects(core.right["items"]), ...objects(others.right["items"])].flatMap(ofGroup));
};

const ofGroup = (entry: { readonly [field: string]: unknown }): readonly NamedKind[] => {
  const { metadata, versions } = entry;
  const group = isObject(metadata) ? text(metadata["name"]) : "";
  const seen = new Set<string>();
  return objects(versions).flatMap(({ version, resources }) =>
    objects(resources).flatMap((served): readonly NamedKind[] => {
      const { resource: plural, responseKind, scope, verbs, subresources, singularResource, shortNames } = served;
      if (!Array.isArray(verbs) || !verbs.includes("list") || seen.has(text(plural))) return [];
      seen.add(text(plural));
      const kind = isObject(responseKind) ? text(responseKind["kind"]) : "";
      const resource = {
        group,
        version: text(version),
        plural: text(plural),
        kind,
        namespaced: scope === "Namespaced",
        statusSubresource: objects(subresources).some(({ subresource }) => subresource === "status"),
      };
      const short = Array.isArray(shortNames) ? shortNames.map(text) : [];
      const names = [resource.plural, text(singularResource), kind.toLowerCase(), ...short];
      return [{ resource, names: names.filter((name) => name !== "") }];
    }),
  );
};
