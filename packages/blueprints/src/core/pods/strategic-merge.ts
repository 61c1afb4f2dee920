// Merges a podOverride into the spec of a Pod, as a strategic merge patch does.
import { isObject, type Json, type JsonObject } from "@janus/types";

/**
 * The lists that are merged item by item, and by which field; other lists are replaced.
 * Source: the patchMergeKey of PodSpec, https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 */
const KEYS: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  ephemeralContainers: "name",
  volumes: "name",
  env: "name",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
  ports: "containerPort",
  imagePullSecrets: "name",
  hostAliases: "ip",
  topologySpreadConstraints: "topologyKey",
  resourceClaims: "name",
};

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const mergeLists = (base: readonly Json[], patch: readonly Json[], key: string): Json => {
  const keyOf = (item: Json): Json | undefined => (isObject(item) ? item[key] : undefined);
  const merged = base.map((item) => {
    const own = patch.find((other) => keyOf(other) !== undefined && keyOf(other) === keyOf(item));
    return isObject(item) && isObject(own) ? strategicMerge(item, own) : item;
  });
  // New items come first, as kubectl has them.
  return [...patch.filter((item) => !base.some((other) => keyOf(other) === keyOf(item))), ...merged];
};

/** A field that is null in the patch is removed. */
export const strategicMerge = (base: JsonObject, patch: JsonObject): JsonObject => {
  const result: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(patch)) {
    const was = Object.hasOwn(base, name) ? base[name] : undefined;
    const key = KEYS[name];
    if (value === null) delete result[name];
    else if (isObject(value)) result[name] = strategicMerge(isObject(was) ? was : {}, value);
    else if (isList(value) && isList(was) && key !== undefined) result[name] = mergeLists(was, value, key);
    else result[name] = value;
  }
  return result;
};
