// Decides whether a stored Transaction changes a given object.
import { groupOf } from "@janus/api";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { asObject, type KubeObject } from "@janus/types";

/** Whether a stored Transaction has this target among its changes, in any version. */
export const hasTarget = ({ metadata, spec }: KubeObject, { resource, namespace, name }: ObjectRef): boolean => {
  const { changes } = asObject(spec);
  return (
    Array.isArray(changes) &&
    changes.some((change) => {
      const target = asObject(asObject(change)["target"]);
      return (
        target["kind"] === resource.kind &&
        target["name"] === name &&
        typeof target["apiVersion"] === "string" &&
        groupOf(target["apiVersion"]) === resource.group &&
        (namespace === undefined || (target["namespace"] ?? metadata.namespace) === namespace)
      );
    })
  );
};
