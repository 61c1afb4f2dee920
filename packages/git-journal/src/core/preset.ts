// The resources that `*` selects: those that describe a desired state.

export interface PresetResource {
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const of = (group: string, namespaced: boolean, ...plurals: readonly string[]): readonly PresetResource[] =>
  plurals.map((plural) => ({ group, plural, namespaced }));

export const PRESET: readonly PresetResource[] = [
  ...of("apps", true, "deployments", "statefulsets", "daemonsets"),
  ...of("", true, "services", "configmaps", "secrets", "serviceaccounts", "resourcequotas", "limitranges"),
  ...of("networking.k8s.io", true, "ingresses", "networkpolicies"),
  ...of("rbac.authorization.k8s.io", true, "roles", "rolebindings"),
  ...of("rbac.authorization.k8s.io", false, "clusterroles", "clusterrolebindings"),
  ...of("policy", true, "poddisruptionbudgets"),
  ...of("apiextensions.k8s.io", false, "customresourcedefinitions"),
  ...of("apiregistration.k8s.io", false, "apiservices"),
  ...of("scheduling.k8s.io", false, "priorityclasses"),
  ...of("storage.k8s.io", false, "storageclasses"),
];
