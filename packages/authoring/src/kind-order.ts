// The order in which kinds are applied: Namespaces and definitions first, admission webhooks last.
import { isBuiltInGroup } from "./built-in-group.ts";

/**
 * The order in which kinds are created: what others refer to comes first, what intercepts requests last. Kinds that
 * are not listed come before those that intercept: they often need a CRD and its controller. As Helm and kustomize
 * do it: https://helm.sh/docs/intro/using_helm/#helm-install-installing-a-package
 * But Jobs come before the workloads, which may mount what a Job makes, such as a certificate.
 */
const FIRST: readonly string[] = [
  "PriorityClass",
  "Namespace",
  "CustomResourceDefinition",
  "NetworkPolicy",
  "ResourceQuota",
  "LimitRange",
  "PodDisruptionBudget",
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "Secret",
  "ConfigMap",
  "StorageClass",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "Service",
  "Job",
  "DaemonSet",
  "Pod",
  "ReplicationController",
  "ReplicaSet",
  "Deployment",
  "HorizontalPodAutoscaler",
  "StatefulSet",
  "CronJob",
  "IngressClass",
  "Ingress",
];
const LAST: readonly string[] = [
  "APIService",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
];

/** The place of a kind in the order of creation; a smaller one comes earlier. */
export const kindOrder = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): number => {
  const [first, last] = isBuiltInGroup(apiVersion) ? [FIRST.indexOf(kind), LAST.indexOf(kind)] : [-1, -1];
  if (first >= 0) return first;
  return last >= 0 ? FIRST.length + 1 + last : FIRST.length;
};
