// Tells which objects kube-apiserver makes by itself, and puts right: they are in every cluster, and nobody has wanted them.
import type { KubeObject } from "@janus/types";

type Metadata = KubeObject["metadata"];

const labelled =
  (label: string) =>
  ({ labels = {} }: Metadata): boolean =>
    Object.hasOwn(labels, label);

const named =
  (...places: readonly `${string}/${string}`[]) =>
  ({ namespace, name = "" }: Metadata): boolean =>
    places.includes(`${namespace ?? ""}/${name}`);

/** The managers of the objects of RBAC that every cluster has; the second sets the rules of aggregated ClusterRoles. */
const BOOTSTRAPPERS = ["kube-apiserver", "clusterrole-aggregation-controller"];

/** Excludes those that people have changed: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#auto-reconciliation */
const bootstrapped = ({ labels = {}, managedFields = [] }: Metadata): boolean =>
  labels["kubernetes.io/bootstrapping"] === "rbac-defaults" &&
  managedFields.every(({ manager = "" }) => BOOTSTRAPPERS.includes(manager));

const RBAC = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"] as const;

/** Maps group and kind to the test of such an object. */
const MADE: ReadonlyMap<string, (metadata: Metadata) => boolean> = new Map([
  // https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go
  ["apiregistration.k8s.io/APIService", labelled("kube-aggregator.kubernetes.io/automanaged")],
  // https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#priorityclass
  ...RBAC.map((kind) => [`rbac.authorization.k8s.io/${kind}`, bootstrapped] as const),
  ["scheduling.k8s.io/PriorityClass", named("/system-cluster-critical", "/system-node-critical")],
  // https://kubernetes.io/docs/reference/networking/virtual-ips/#ip-address-objects
  ["networking.k8s.io/IPAddress", labelled("ipaddress.kubernetes.io/managed-by")],
  ["networking.k8s.io/ServiceCIDR", named("/kubernetes")],
  ["/Service", named("default/kubernetes")],
  [
    "/ConfigMap",
    named(
      "kube-system/extension-apiserver-authentication",
      "kube-system/kube-apiserver-legacy-service-account-token-tracking",
    ),
  ],
]);

export const isMadeByApiServer = ({ apiVersion, kind, metadata }: KubeObject): boolean => {
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")));
  return MADE.get(`${group}/${kind}`)?.(metadata) ?? false;
};
