// Tells groups of Kubernetes itself from those of custom resources.
import { groupOf } from "@janus/api";

/** Whether Kubernetes itself defines the group: `apps`, or with a dot `networking.k8s.io`. */
export const isBuiltInGroup = (apiVersion: string): boolean => {
  const group = groupOf(apiVersion);
  return !group.includes(".") || group.endsWith(".k8s.io");
};
