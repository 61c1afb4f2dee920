// The kinds that the model serves: built-in ones and those of CustomResourceDefinitions.
import { asObject, type Json, type JsonObject, type KubeObject, type Resource } from "@janus/types";
import { BUILT_IN_KINDS } from "./built-in-types.ts";
import { builtInType, customType, type FieldType, unknownType } from "./field-type.ts";
import type { World } from "./world.ts";

/** A kind that the API server serves, and how its objects are merged. */
export interface ServedKind {
  readonly resource: Resource;
  readonly type: FieldType;
}

const versionOf = (apiVersion: string): Pick<Resource, "group" | "version"> => {
  const [first = "", second] = apiVersion.split("/");
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
};

const builtIn = (apiVersion: string, kind: string): ServedKind | undefined => {
  const key = `${apiVersion} ${kind}`;
  const found = Object.hasOwn(BUILT_IN_KINDS, key) ? BUILT_IN_KINDS[key] : undefined;
  if (found === undefined) return undefined;
  const [plural = "", ...flags] = found.resource.split(" ");
  return {
    type: builtInType(found.type),
    resource: {
      ...versionOf(apiVersion),
      plural,
      kind,
      namespaced: flags.includes("namespaced"),
      statusSubresource: flags.includes("status"),
      ...(flags.includes("virtual") ? { isVirtual: true } : {}),
    },
  };
};

const list = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).map(asObject) : [];

/** The kinds of a CustomResourceDefinition: one for each version. */
export const kindsOf = (definition: { readonly [field: string]: unknown }): readonly ServedKind[] => {
  const { group, scope, names, versions } = asObject(definition["spec"]);
  const { kind, plural } = asObject(names);
  if (typeof group !== "string" || typeof kind !== "string" || typeof plural !== "string") return [];
  return list(versions).flatMap(({ name, served, schema, subresources }) =>
    typeof name !== "string" || served === false
      ? []
      : [
          {
            type: customType(asObject(schema)["openAPIV3Schema"]),
            resource: {
              group,
              version: name,
              plural,
              kind,
              namespaced: scope !== "Cluster",
              statusSubresource: asObject(subresources)["status"] !== undefined,
            },
          },
        ],
  );
};

/** A kind that no CustomResourceDefinition describes here. */
export const assumedKind = (apiVersion: string, kind: string, plural: string, namespaced: boolean): ServedKind => ({
  type: unknownType,
  resource: { ...versionOf(apiVersion), plural, kind, namespaced, statusSubresource: true },
});

const isDefinition = ({ apiVersion, kind }: KubeObject): boolean =>
  kind === "CustomResourceDefinition" && apiVersion.startsWith("apiextensions.k8s.io/");

const customKinds = ({ objects }: World): readonly ServedKind[] =>
  [...objects.values()].filter(isDefinition).flatMap(kindsOf);

/** The kind as the API server serves it now. `assumed`: custom kinds whose CustomResourceDefinition is not among the objects. */
export const servedKind = (
  world: World,
  assumed: readonly ServedKind[],
  apiVersion: string,
  kind: string,
): ServedKind | undefined => {
  const { group, version } = versionOf(apiVersion);
  const isIt = ({ resource }: ServedKind): boolean =>
    resource.group === group && resource.version === version && resource.kind === kind;
  return builtIn(apiVersion, kind) ?? customKinds(world).find(isIt) ?? assumed.find(isIt);
};

/** All kinds that are served. */
export const servedKinds = (world: World, assumed: readonly ServedKind[]): readonly ServedKind[] => [
  ...Object.keys(BUILT_IN_KINDS).flatMap((key) => {
    const [apiVersion = "", kind = ""] = key.split(" ");
    return builtIn(apiVersion, kind) ?? [];
  }),
  ...customKinds(world),
  ...assumed,
];

/** The kind that RBAC calls this. */
export const kindNamed = (
  world: World,
  assumed: readonly ServedKind[],
  group: string,
  plural: string,
): ServedKind | undefined =>
  servedKinds(world, assumed).find(({ resource }) => resource.group === group && resource.plural === plural);
