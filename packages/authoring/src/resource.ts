// Finds the plural and the scope of a kind without a cluster.
import { groupOf } from "@janus/api";
import { isBuiltInGroup } from "./built-in-group.ts";
import { asObject } from "@janus/types";
import type { ChangeManifest } from "./manifest.ts";

/** A kind as RBAC names it. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Kinds of Kubernetes whose objects are in no namespace. `kubectl api-resources --namespaced=false` */
const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  "Namespace",
  "Node",
  "PersistentVolume",
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "CustomResourceDefinition",
  "APIService",
  "CertificateSigningRequest",
  "ClusterTrustBundle",
  "FlowSchema",
  "PriorityLevelConfiguration",
  "IngressClass",
  "IPAddress",
  "ServiceCIDR",
  "RuntimeClass",
  "ClusterRole",
  "ClusterRoleBinding",
  "DeviceClass",
  "ResourceSlice",
  "PriorityClass",
  "CSIDriver",
  "CSINode",
  "StorageClass",
  "VolumeAttachment",
  "VolumeAttributesClass",
]);

/**
 * The plural that Kubernetes guesses for a kind; right for all of its own kinds.
 * https://pkg.go.dev/k8s.io/apimachinery/pkg/api/meta#UnsafeGuessKindToResource
 */
const guessedPlural = (kind: string): string => {
  const singular = kind.toLowerCase();
  if (singular.endsWith("endpoints")) return singular;
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
};

/** The resource that a CustomResourceDefinition among the changes defines for this kind. */
const defined = (group: string, kind: string, changes: readonly ChangeManifest[]): ResourceName | undefined => {
  const specs = changes
    .filter(({ target, type }) => target.kind === "CustomResourceDefinition" && type !== "Delete")
    .map(({ content }) => asObject(asObject(content)["spec"]));
  const spec = specs.find((spec) => spec["group"] === group && asObject(spec["names"])["kind"] === kind);
  const plural = asObject(spec?.["names"])["plural"];
  return spec === undefined || typeof plural !== "string"
    ? undefined
    : { group, plural, namespaced: spec["scope"] !== "Cluster" };
};

/**
 * Returns the name that RBAC has for the kind of a target, without asking a cluster: as a CustomResourceDefinition among the
 * changes says, otherwise guessed. A custom kind that is not defined there counts as namespaced if its target or the Transaction
 * gives it a namespace; its plural may be guessed wrongly.
 */
export const resourceOf = (
  { apiVersion, kind }: ChangeManifest["target"],
  changes: readonly ChangeManifest[],
): ResourceName => {
  const group = groupOf(apiVersion);
  return (
    defined(group, kind, changes) ?? {
      group,
      plural: guessedPlural(kind),
      namespaced: !(isBuiltInGroup(apiVersion) && CLUSTER_SCOPED.has(kind)),
    }
  );
};
