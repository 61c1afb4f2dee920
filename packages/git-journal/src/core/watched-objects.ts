// Keeps the parts of objects that the configuration follows from, and tells whether a change of one matters.
import { asObject, equal, type JsonObject, type KubeObject, without } from "@janus/types";
import type { Installed, ServedResource } from "./discovery.ts";
import { resourceKey } from "./discovery.ts";
import type { Labels } from "./label-selector.ts";

const identity = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata: without(metadata, ["managedFields", "annotations", "ownerReferences", "labels"]),
});

/** Keeps the spec and status of an object of the four kinds. */
export const keptObject = (object: KubeObject): KubeObject => ({
  ...identity(object),
  spec: object["spec"],
  status: object["status"],
});

/** Keeps the labels of a namespace. */
export const keptNamespace = (object: KubeObject): KubeObject => {
  const { apiVersion, kind, metadata } = identity(object);
  return { apiVersion, kind, metadata: { ...metadata, labels: object.metadata.labels ?? {} } };
};

const isEstablished = (object: KubeObject): boolean => {
  const { conditions } = asObject(object["status"]);
  return (
    object.metadata.deletionTimestamp === undefined &&
    Array.isArray(conditions) &&
    conditions.map(asObject).some(({ type, status }) => type === "Established" && status === "True")
  );
};

/** Keeps whether the resource of a CustomResourceDefinition is served. */
export const keptDefinition = (object: KubeObject): KubeObject => {
  const { versions } = asObject(object["spec"]);
  const isServed = Array.isArray(versions) && versions.map(asObject).some(({ served }) => served === true);
  return { ...identity(object), isServed: isServed && isEstablished(object) };
};

/** Keeps the group of an APIService. */
export const keptApiService = (object: KubeObject): KubeObject => ({
  ...identity(object),
  group: asObject(object["spec"])["group"],
});

const relevant = ({ metadata: { uid = "", labels = {} }, ...object }: KubeObject): JsonObject => ({
  ...without(object, ["status"]),
  uid,
  labels,
});

/** Whether something else follows from the object than before. Its status does not count, nor its metadata but uid and labels. */
export const isNews = (before: KubeObject | undefined, now: KubeObject): boolean =>
  before === undefined || !equal(relevant(before), relevant(now));

export const labelsOf = (namespaces: ReadonlyMap<string, KubeObject>): ReadonlyMap<string, Labels> =>
  new Map([...namespaces].map(([name, { metadata }]) => [name, metadata.labels ?? {}]));

export const installedOf = (
  definitions: ReadonlyMap<string, KubeObject>,
  apiServices: ReadonlyMap<string, KubeObject>,
): Installed => ({
  definitions: new Set(definitions.keys()),
  groups: new Set([...apiServices.values()].flatMap(({ group }) => (typeof group === "string" ? [group] : []))),
});

/**
 * Tells whether the API server serves other resources than its CustomResourceDefinitions say: it learns of them a moment later.
 *
 * @param removed the names of definitions that do not exist any more
 */
export const isBehind = (
  served: readonly ServedResource[],
  definitions: ReadonlyMap<string, KubeObject>,
  removed: ReadonlySet<string>,
): boolean => {
  const keys = new Set(served.map(resourceKey));
  return (
    [...definitions].some(([name, { isServed }]) => isServed === true && !keys.has(name)) ||
    [...removed].some((name) => keys.has(name))
  );
};
