// Removes ephemeral containers from a Pod, since a new Pod cannot be created with them.
import { filter, isWhole, none, type Path } from "./field-set.ts";
import { asObject, type KubeObject } from "@janus/types";

const isEphemeral = ([first, second]: Path): boolean => first === "f:spec" && second === "f:ephemeralContainers";

/**
 * A Pod without its ephemeral containers and their field ownership: only a running Pod can get them.
 * https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/
 */
export const withoutEphemeral = (object: KubeObject): KubeObject => {
  if (object.kind !== "Pod" || object.apiVersion !== "v1") return object;
  const { ephemeralContainers, ...spec } = asObject(object["spec"]);
  if (ephemeralContainers === undefined) return object;
  const managedFields = (object.metadata.managedFields ?? []).flatMap((entry) => {
    const fieldsV1 = filter(entry.fieldsV1 ?? none, (path) => !isEphemeral(path));
    return isWhole(fieldsV1) ? [] : [{ ...entry, fieldsV1 }];
  });
  return { ...object, spec, metadata: { ...object.metadata, managedFields } };
};
