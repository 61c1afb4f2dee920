/**
 * Takes out of an object the fields that describe this one cluster, and not what is wanted.
 *
 * A deny list: what is not known to be noise stays, defaults of the server included.
 */
import {
  asObject,
  isDeeperThan,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  member,
  without,
} from "@janus/types";
import { ANNOTATION_PREFIX } from "../api/names.ts";

const METADATA = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "managedFields",
  "ownerReferences",
  "finalizers",
];

const ANNOTATIONS = [
  "kubectl.kubernetes.io/",
  "control-plane.alpha.kubernetes.io/",
  "deployment.kubernetes.io/",
  "autoscaling.alpha.kubernetes.io/",
  ANNOTATION_PREFIX,
];

/** Changes a field, or removes it if nothing is left of it; an object without the field stays as it is. */
const withField = (object: JsonObject, name: string, change: (value: JsonObject) => JsonObject): JsonObject => {
  const value = member(object, name);
  if (!isObject(value)) return object;
  const changed = change(value);
  if (changed === value) return object;
  return Object.keys(changed).length === 0 ? without(object, [name]) : { ...object, [name]: changed };
};

const lacking =
  (...names: readonly string[]) =>
  (object: JsonObject): JsonObject =>
    names.some((name) => Object.hasOwn(object, name)) ? without(object, names) : object;

/** Removes the addresses of a Service, but `None`, by which a user wants a headless one. */
const withoutAddresses = (spec: JsonObject): JsonObject =>
  lacking("healthCheckNodePort", ...(spec["clusterIP"] === "None" ? [] : ["clusterIP", "clusterIPs"]))(spec);

/** Maps core kinds to a function that removes what the cluster has put into their spec. */
const SPECS: ReadonlyMap<string, (spec: JsonObject) => JsonObject> = new Map([
  ["Service", withoutAddresses],
  ["Pod", lacking("nodeName")],
  ["PersistentVolumeClaim", lacking("volumeName")],
  ["PersistentVolume", (spec) => withField(spec, "claimRef", lacking("uid", "resourceVersion"))],
  ["Namespace", lacking("finalizers")],
]);

/** Removes `creationTimestamp: null`, which Go clients write into the metadata of every template. */
const withoutTimestamps = (value: Json): Json => {
  if (Array.isArray(value)) {
    const items = value.map(withoutTimestamps);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, inner]): readonly [string, Json] => {
    const kept = name === "metadata" && isObject(inner) && inner["creationTimestamp"] === null;
    return [name, withoutTimestamps(kept ? without(inner, ["creationTimestamp"]) : inner)];
  });
  return fields.some(([name, inner]) => inner !== value[name]) ? Object.fromEntries(fields) : value;
};

const withoutNoise = (annotations: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(annotations).filter(([name]) => !ANNOTATIONS.some((prefix) => name.startsWith(prefix))),
  );

const metadataOf = (object: KubeObject): JsonObject => {
  const metadata = without(object.metadata, METADATA);
  const { labels, annotations, ...others } = metadata;
  const kept = withoutNoise(asObject(annotations));
  return {
    ...others,
    ...(Object.keys(asObject(labels)).length === 0 ? {} : { labels: labels ?? null }),
    ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }),
  };
};

/**
 * Returns the object as its file has it; a Secret with its data.
 *
 * Guarantees: the same for the object that a webhook sees and the one that a watch shows afterwards; applied, it gives the object
 *             back.
 * Assumes:    no object is nested deeper than the stack; see {@link isTooDeep}.
 */
export const sanitised = (object: KubeObject): JsonObject => {
  const { metadata: _, status: __, ...rest } = object as unknown as JsonObject;
  const others = asObject(withoutTimestamps(rest));
  const change = object.apiVersion === "v1" ? SPECS.get(object.kind) : undefined;
  return { ...(change === undefined ? others : withField(others, "spec", change)), metadata: metadataOf(object) };
};

/** The depth beyond which neither the stack nor a reader of YAML can be relied on. */
const DEEPEST = 200;

/** Whether an object is nested so deep that its file could not be read. */
export const isTooDeep = (object: object): boolean => isDeeperThan(object, DEEPEST + 1);
