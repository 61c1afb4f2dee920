// Lists objects with owners in the model.
import { type FindOwned, type Found, hasOwner, isOfCluster, ownedObject, type Unlisted } from "@janus/controller/core";
import type { Resource } from "@janus/types";
import { isDenied } from "../api-server/denied.ts";
import { servedKinds } from "../api-server/served-kinds.ts";
import type { World } from "../api-server/world.ts";
import type { Scenario } from "./scenario.ts";

/** The name that kubectl accepts. */
const nameOf = ({ plural, group }: Resource): string => (group === "" ? plural : `${plural}.${group}`);

/** The objects that are deleted together with others, as far as the ServiceAccount may list them. */
export const listOwned = (
  world: World,
  { server, serviceAccount }: Scenario,
  { namespace, only, unowned }: FindOwned,
): Found => {
  const kinds = servedKinds(world, server.assumed).map(({ resource }) => resource);
  const keys = new Map(kinds.map((kind) => [`${kind.group} ${kind.kind}`, kind]));
  const clusterKinds = new Set([...keys].flatMap(([key, { namespaced }]) => (namespaced ? [] : [key])));
  const isUnlistable = ({ kind, namespaced }: Resource): boolean =>
    (namespace === undefined || namespaced) &&
    isDenied(serviceAccount.denied, "list", { kind, ...(namespace === undefined ? {} : { namespace }) });
  const owned = [...world.objects.values()].flatMap((object) => {
    const kind = keys.get(`${object.apiVersion.split("/").slice(0, -1).join("")} ${object.kind}`);
    const isThere = namespace === undefined || object.metadata.namespace === namespace;
    if (kind === undefined || !isThere || (only !== undefined && !only.includes(nameOf(kind)))) return [];
    if (isUnlistable(kind)) return [];
    const one = ownedObject(object, clusterKinds);
    return hasOwner(one) || (unowned === true && !isOfCluster(object)) ? [one] : [];
  });
  const served = new Set(kinds.map(nameOf));
  const unserved = (only ?? [])
    .filter((name) => !served.has(name))
    .map((resource) => ({ resource, why: "the API server does not serve it", mayComeYet: true }));
  const denied = kinds
    .filter((kind) => (only === undefined || only.includes(nameOf(kind))) && isUnlistable(kind))
    .map((kind): Unlisted => ({ resource: nameOf(kind), why: "forbidden", mayComeYet: false, isDenied: true }));
  return { owned, unlisted: [...unserved, ...denied] };
};
