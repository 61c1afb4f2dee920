import { groupOf } from "@janus/api";

/** The groups with a domain that kube-apiserver itself serves. https://kubernetes.io/docs/reference/using-api/#api-groups */
const BUILT_IN: readonly string[] = [
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "internal.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
  "storagemigration.k8s.io",
];

/** Whether a kind is not of Kubernetes itself: then a workload of its own serves it, such as an operator, and removes its finalizers. */
export const isCustomKind = (apiVersion: string): boolean => {
  const group = groupOf(apiVersion);
  return group.includes(".") && !BUILT_IN.includes(group);
};
