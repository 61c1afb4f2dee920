// Removes metadata.managedFields before an object is printed.
import type { KubeObject } from "@janus/kube";

/** An object as `kubectl get -o yaml` prints it: nobody reads its metadata.managedFields. */
export const withoutManagedFields = (object: KubeObject): KubeObject => {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
};
